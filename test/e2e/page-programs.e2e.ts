import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../docs/pages.ts";
import { arrivedTree, type PageProgram, playPage, shownTree } from "../support/page-program.ts";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";

/** Programs whose framework is not beside this package. `test/docs/page-programs.test.ts` runs the others. */
const PROGRAMS: readonly (Omit<PageProgram, "out"> & {
  /** The framework's name in `scripts/servers`. */
  readonly server: string;
  readonly out?: string;
  readonly newerNode?: boolean;
})[] = [
  {
    page: "docs/openai-agents.md",
    file: "openai-agents.mjs",
    server: "openai-agents-newest",
    newerNode: true,
  },
  { page: "docs/ai-sdk.md", file: "ai-sdk.mjs", server: "ai-sdk-newest", newerNode: true },
  {
    page: "docs/ai-sdk.md",
    file: "ai-sdk-6.mjs",
    server: "ai-sdk-6-newest",
    out: "Order 17 is on its way.\n",
  },
  { page: "docs/mastra.md", file: "mastra.mjs", server: "mastra-newest", newerNode: true },
  { page: "docs/claude-agent.md", file: "claude-agent.mjs", server: "claude-agent" },
];

/** Some of these installations have no SDK of metrics. */
const METRICS = "node_modules/@opentelemetry/sdk-metrics";

describe("a program of a page, in an empty project with the packed package", () => {
  let folder: string;
  let tarball: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-pages-"));
    tarball = await packed(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each(PROGRAMS)("$file of $page sends the spans that the page shows", async (program) => {
    const { newerNode = false, out = "You have your money back.\n", server } = program;
    const node = newerNode ? await installedPath("newer-node") : process.execPath;
    const project = await AdaptersProject.create(server, tarball, node);
    try {
      await mkdir(dirname(join(project.folder, METRICS)), { recursive: true });
      await symlink(join(ROOT, METRICS), join(project.folder, METRICS));
      const played = await playPage({ ...program, out }, project.folder, node);
      expect({ err: played.err, out: played.out }).toEqual({ err: "", out });
      expect(arrivedTree(played.spans)).toEqual(shownTree({ ...program, out }));
      const tenants = played.spans.map(({ attributes }) => attributes["entelix.tenant_id"]);
      expect([...new Set(tenants)]).toEqual(["acme"]);
    } finally {
      await project.remove();
    }
  });
});
