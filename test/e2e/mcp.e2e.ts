import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPage } from "../docs/pages.ts";
import { AdaptersProject, packed } from "./support/adapters-project.ts";
import { type McpScene, mcpOf, playMcp, treeOf } from "./support/mcp-project.ts";
import { mcpTrees } from "./support/mcp-trees.ts";

/** Each major version of the SDK, in the oldest and the newest version that is supported. */
const ENDS = [
  { end: "oldest", major: "1", version: "2025-06-18", refusal: "reject" },
  { end: "newest", major: "1", version: "2025-11-25", refusal: "decline" },
  { end: "oldest", major: "2", version: "2025-11-25", refusal: "decline" },
  { end: "newest", major: "2", version: "2025-11-25", refusal: "decline" },
] as const;

const CARRIED = ["entelix-otel/run", "traceparent"];

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-mcp-"));
  tarball = await packed(folder);
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(ENDS)("the packed package beside the $end SDK of version $major", (given) => {
  const { end, major, refusal, version } = given;
  const trees = mcpTrees(major, end === "newest");
  let project: AdaptersProject;
  let scenes: Readonly<Record<string, McpScene>>;

  beforeAll(async () => {
    project = await AdaptersProject.create(`mcp-${end}`, tarball, process.execPath);
    scenes = await playMcp(project, major, refusal);
  });
  afterAll(() => project?.remove());

  const scene = (name: string): McpScene => {
    const played = scenes[name];
    if (played === undefined) throw new Error(`no scene ${name}`);
    return played;
  };

  it("plays every scene", () => {
    expect(Object.keys(scenes)).toEqual(Object.keys(trees));
  });

  it.each(Object.keys(trees))("%s: the spans, live and replayed, and no trouble", (name) => {
    expect(treeOf(scene(name))).toEqual(trees[name]);
    expect(scene(name).replay).toBe(true);
    expect(scene(name).troubles).toEqual([]);
    const roots = trees[name]?.filter((line) => !line.startsWith(" ")).length;
    expect(scene(name).traces).toBe(roots);
  });

  it("says how a call travels, by the conventions", () => {
    const call = { "mcp.method.name": "tools/call", "mcp.protocol.version": version };
    const id = { "jsonrpc.request.id": "1" };
    const pipe = { "network.transport": "pipe" };
    expect(mcpOf(scene("stdio"), "execute_tool find_order")).toEqual({ ...call, ...id, ...pipe });
    expect(mcpOf(scene("stdio"), "invoke_agent shop")).toEqual({ ...call, ...id, ...pipe });
    const tcp = { "network.transport": "tcp", ...(major === "1" ? SESSION : {}) };
    expect(mcpOf(scene("http"), "execute_tool find_order")).toEqual({
      ...call,
      ...id,
      ...tcp,
      "server.address": "127.0.0.1",
    });
    expect(mcpOf(scene("http"), "invoke_agent shop")).toEqual({ ...call, ...id, ...tcp });
  });

  it("carries trace and run to the server", () => {
    for (const name of ["success", "http", "nested", "inside the framework's tool"]) {
      expect(new Set(scene(name).carried.map(String))).toEqual(new Set([String(CARRIED)]));
    }
  });

  it("gives callers what they would get without it", () => {
    expect(scene("success").answer).toBe("order 17 is on its way");
    expect(scene("parallel").answer).toEqual(
      [1, 2, 3].map((order) => `order ${order} is on its way`),
    );
    expect(scene("is error").answer).toBe("no such order");
    expect(scene("timeout").thrown).toContain("Request timed out");
    expect(scene("abort").thrown).toContain("AbortError: This operation was aborted");
    expect(scene("server dies").thrown).toContain("Connection closed");
    expect(scene("elicitation declined by stdio").answer).toBe(`the person said ${refusal}`);
  });

  it("shows content only where it is wanted", () => {
    const shown = (name: string) =>
      scene(name).spans.flatMap(({ attributes }) =>
        Object.entries(attributes).filter(([key]) => key.startsWith("gen_ai.tool.call.")),
      );
    expect(shown("success").filter(([key]) => !key.endsWith(".id"))).toEqual([]);
    const values = new Map(shown("success, with content"));
    expect(values.get("gen_ai.tool.call.arguments")).toBe('{"id":17}');
    expect(values.get("gen_ai.tool.call.result")).toContain("order 17 is on its way");
  });

  it("keeps tenants apart", () => {
    const spans = scene("two tenants").spans.filter(({ name }) => name !== "invoke_agent shop");
    const tenants = spans.map(({ attributes }) => attributes["entelix.tenant_id"]);
    expect(tenants.filter((tenant) => tenant === "globex")).toHaveLength(2);
  });
});

const SESSION = { "mcp.session.id": "session-1" };

describe("the ranges of the package's peers", () => {
  it.each([
    ["@modelcontextprotocol/sdk", ">=1.13.0 <2"],
    ["@modelcontextprotocol/client", ">=2.0.0 <3"],
    ["@modelcontextprotocol/server", ">=2.0.0 <3"],
  ])("of %s begin at the oldest that is tested, and take the newest", async (name, range) => {
    const { peerDependencies, peerDependenciesMeta } = await manifest("package.json");
    expect(peerDependencies?.[name]).toBe(range);
    expect(peerDependenciesMeta?.[name]).toEqual({ optional: true });
    const page = readPage("docs/mcp.md");
    const [from = "", below = ""] = range.replace(">=", "").split(" <");
    const oldest = (await manifest("scripts/servers/mcp-oldest/package.json")).dependencies?.[name];
    const newest = (await manifest("scripts/servers/mcp-newest/package.json")).dependencies?.[name];
    expect(oldest).toBe(from);
    expect(Number(newest?.split(".")[0])).toBe(Number(below) - 1);
    for (const version of [oldest, newest]) expect(page).toContain(version);
  });
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

async function manifest(path: string): Promise<Manifest> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
  const read: Manifest = JSON.parse(text);
  return read;
}
