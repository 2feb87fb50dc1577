import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arrivedTree, type PageProgram, playPage, shownTree } from "../support/page-program.ts";
import { pageFiles, ROOT, readPage } from "./pages.ts";

/** Pages that begin with a program. `page-programs.e2e.ts` runs those whose framework is not installed here. */
const PAGES_OF_ADAPTERS = [
  "runtime",
  "langchain",
  "openai-agents",
  "ai-sdk",
  "mastra",
  "claude-agent",
  "mcp",
  "register",
].map((name) => `docs/${name}.md`);

const ON_ITS_WAY = "Order 17 is on its way.\n";
const MONEY_BACK = "You have your money back.\n";

const PROGRAMS: readonly PageProgram[] = [
  {
    page: "docs/runtime.md",
    file: "agent.mjs",
    out: "refunded 41.9, approver rejected tool 'refund' dispatch: above 50\n",
  },
  { page: "docs/langchain.md", file: "langgraph.mjs", out: MONEY_BACK },
  { page: "docs/mcp.md", file: "mcp.mjs", out: ON_ITS_WAY },
  { page: "docs/mcp.md", file: "mcp-stdio-client.mjs", shownBelow: "mcp.mjs", out: ON_ITS_WAY },
  {
    page: "docs/register.md",
    file: "without-code.mjs",
    options: ["--import", "entelix-otel/register"],
    variables: { ENTELIX_REGISTER: "langchain" },
    out: ON_ITS_WAY,
    err: "entelix-otel: reports LangChain, tenant default\n",
    tenant: "default",
  },
];

describe.each(PAGES_OF_ADAPTERS)("%s", (page) => {
  const text = readPage(page);

  it("begins with a program: how to install it, the file, how to run it, what to see", () => {
    const [file = ""] = pageFiles(text).keys();
    const parts = [
      "\nnpm install entelix-otel ",
      `\n\`${file}\``,
      "\nnpx entelix-otel view --listen",
    ];
    const places = [...parts, ` ${file} `, "```text\ninvoke_"].map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(
      text
        .slice(0, places.at(-1))
        .split("\n")
        .filter((line) => line.startsWith("## ")),
    ).toEqual([]);
  });

  it("has the programs of the folder examples", () => {
    for (const [name, program] of pageFiles(text)) {
      expect(program, name).toBe(readFileSync(join(ROOT, "examples", name), "utf8"));
    }
  });
});

describe("a program of a page, in an empty project", () => {
  let project: string;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "entelix-otel-page-"));
    const modules = join(project, "node_modules");
    await mkdir(modules);
    await symlink(ROOT, join(modules, "entelix-otel"));
    for (const name of await readdir(join(ROOT, "node_modules"))) {
      await symlink(join(ROOT, "node_modules", name), join(modules, name));
    }
  });
  afterAll(() => rm(project, { recursive: true }));

  it.each(PROGRAMS)("$file of $page sends the spans that the page shows", async (program) => {
    const { err, out, spans } = await playPage(program, project, process.execPath);
    expect({ err, out }).toEqual({ err: program.err ?? "", out: program.out });
    expect(arrivedTree(spans)).toEqual(shownTree(program));
    const tenants = new Set(spans.map(({ attributes }) => attributes["entelix.tenant_id"]));
    expect([...tenants]).toEqual([program.tenant ?? "acme"]);
  });
});
