import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdaptersProject, packed, type Scenes } from "./support/adapters-project.ts";

const MODEL = "request.model=claude-sonnet-4-5 response.model=claude-sonnet-4-5";
const CHAT = `chat claude-sonnet-4-5 kind=2 model.outcome=complete ${MODEL}`;
const LAST_CHAT = `${CHAT} response.finish_reasons=end_turn`;
const ASKING_CHAT = `${CHAT} response.finish_reasons=tool_use`;

/** A run whose answers the result counts: the API says 16 tokens in, 4 of them from the cache, and 20 out. */
const run = (answers: number, name = "claude") =>
  `invoke_agent ${name} kind=0 run.outcome=complete ${used(answers)}`;
const used = (answers: number) =>
  `usage.input_tokens=${16 * answers} usage.cache_read.input_tokens=${4 * answers} ` +
  `usage.output_tokens=${20 * answers}`;
const failedRun = (kind: string) =>
  `invoke_agent claude kind=0 ERROR run.outcome=failed failure.kind=${kind}`;
const tool = (id: string, outcome = "complete", name = "Bash") =>
  `execute_tool ${name} kind=0 tool.outcome=${outcome} tool.call.id=${id}`;

const ONE_CALL = [run(2), `  ${CHAT}`, `  ${tool("t1")}`, `  ${LAST_CHAT}`];
const DENIED = [run(2), `  ${CHAT}`, `  ${tool("t1", "denied")}`, `  ${LAST_CHAT}`];
const ONE_ANSWER = [run(1), `  ${LAST_CHAT}`];
const SUB_AGENT = "invoke_agent general-purpose kind=0 run.outcome=complete";

/** What each scene must make, with the SDK's own process and a scripted Messages API. */
const TREES: Readonly<Record<string, readonly string[]>> = {
  success: ONE_ANSWER,
  "parallel tools, one fails": [
    run(2),
    `  ${CHAT}`,
    `  ${tool("t1")}`,
    "  execute_tool Bash kind=0 ERROR tool.outcome=error tool.error_kind=internal tool.call.id=t2",
    `  ${LAST_CHAT}`,
  ],
  "an answer after a retry": ONE_ANSWER,
  "a model that fails": [
    failedRun("model_dispatch"),
    "  chat claude-sonnet-4-5 kind=2 ERROR model.outcome=error request.model=claude-sonnet-4-5",
  ],
  abort: [failedRun("cancelled"), `  ${CHAT}`, `  ${tool("t1", "cancelled")}`],
  timeout: [failedRun("deadline_exceeded"), `  ${CHAT}`, `  ${tool("t1", "cancelled")}`],
  "a process that dies": [failedRun("unclassified"), `  ${CHAT}`, `  ${tool("t1", "cancelled")}`],
  "sub-agents, two deep": [
    run(6),
    `  ${CHAT}`,
    `  ${tool("t1", "complete", "Agent")}`,
    `    ${SUB_AGENT}`,
    `      ${CHAT}`,
    `      ${tool("t2", "complete", "Agent")}`,
    `        ${SUB_AGENT}`,
    `          ${tool("t3")}`,
    `  ${LAST_CHAT}`,
  ],
  approve: ONE_CALL,
  edit: ONE_CALL,
  deny: DENIED,
  "a rule denies": DENIED,
  "a hook denies": DENIED,
  interrupt: [
    `${failedRun("cancelled")} ${used(1)}`,
    `  ${ASKING_CHAT}`,
    `  ${tool("t1", "cancelled")}`,
    ...ONE_ANSWER,
  ],
  "resume in another process": [...ONE_ANSWER, run(1), `  ${LAST_CHAT}`],
  fork: [...ONE_ANSWER, run(1), `  ${LAST_CHAT}`],
  "two tenants at once": [...ONE_CALL, ...ONE_CALL],
  "max turns": [
    `${failedRun("usage_limit_exceeded")} ${used(1)}`,
    `  ${ASKING_CHAT}`,
    `  ${tool("t0")}`,
  ],
  "max budget": [
    `${failedRun("usage_limit_exceeded")} ${used(1)}`,
    `  ${ASKING_CHAT}`,
    `  ${tool("t0", "cancelled")}`,
  ],
  "two prompts, and a compaction": [
    ...ONE_ANSWER,
    run(2),
    "  step compaction kind=0 step.outcome=complete",
    ...ONE_ANSWER,
  ],
  "partial messages": [run(2), `  ${ASKING_CHAT}`, `  ${tool("t1")}`, `  ${LAST_CHAT}`],
  "a tool of this process": [
    run(2),
    `  ${CHAT}`,
    `  ${tool("t1", "complete", "mcp__shop__lookup")}`,
    "    invoke_agent expert kind=0 run.outcome=complete",
    `  ${LAST_CHAT}`,
  ],
  "the environment": ONE_CALL,
};

/** What the SDK itself throws; `null` where it throws nothing. */
const THROWN: Readonly<Record<string, RegExp>> = {
  "a model that fails": /API Error: 500/,
  abort: /aborted by user/,
  timeout: /aborted by user/,
  "a process that dies": /SIGKILL/,
  "max turns": /Reached maximum number of turns \(1\)/,
  "max budget": /Reached maximum budget/,
};

let folder: string;
let project: AdaptersProject;
let scenes: Scenes;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-claude-agent-"));
  project = await AdaptersProject.create("claude-agent", await packed(folder), process.execPath);
  const needs = ["claude-agent-ask.mjs", "claude-agent-messages-api.mjs"];
  scenes = await project.play("adapters-claude-agent.mjs", needs);
});
afterAll(async () => {
  await project?.remove();
  await rm(folder, { recursive: true });
});

describe("the packed package beside the process of the Claude Agent SDK", () => {
  it("is in no trouble, whatever the scene", () => {
    const troubles = Object.entries(scenes).map(([name, scene]) => [
      name,
      scene.troubles,
      scene.counts,
    ]);
    expect(troubles).toEqual(Object.keys(scenes).map((name) => [name, [], {}]));
  });

  it.each(Object.entries(TREES))("%s: the spans", (name, tree) => {
    expect(scenes[name]?.tree).toEqual(tree);
  });

  it.each(Object.keys(TREES))("%s: what the reader gets", (name) => {
    const expected = THROWN[name];
    if (expected === undefined) expect(scenes[name]?.thrown).toBeNull();
    else expect(scenes[name]?.thrown).toMatch(expected);
  });

  it("a reader that leaves: the run is cancelled", () => {
    const { tree = [] } = scenes["a reader that leaves"] ?? {};
    expect(tree.slice(0, 2)).toEqual([failedRun("cancelled"), `  ${CHAT}`]);
  });

  it("a sub-agent in the background: it stands below its call, wherever it ends", () => {
    const { tree = [] } = scenes["a sub-agent in the background"] ?? {};
    const at = tree.indexOf(`  ${tool("t1", "complete", "Agent")}`);
    expect(tree.slice(at, at + 3)).toEqual([
      `  ${tool("t1", "complete", "Agent")}`,
      `    ${SUB_AGENT}`,
      `      ${CHAT}`,
    ]);
  });
});

describe("the range of the package's peer", () => {
  it("begins at the version that is tested, which the page states", async () => {
    const read = async (path: string) =>
      await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
    const { dependencies } = JSON.parse(await read("scripts/servers/claude-agent/package.json"));
    const version: string = dependencies["@anthropic-ai/claude-agent-sdk"];
    const { peerDependencies } = JSON.parse(await read("package.json"));
    expect(peerDependencies["@anthropic-ai/claude-agent-sdk"]).toBe(`>=${version} <0.4`);
    expect(await read("docs/claude-agent.md")).toContain(version);
  });
});
