import { describe, expect, it } from "vitest";
import type { SdkSpanData } from "../../../src/entries/openai-agents.ts";
import { agent, calling, play, TRACE, turn } from "./newer-spans.ts";
import { listen } from "./told.ts";

// Decisions of `onApproval` callbacks. The SDK makes no span for refused calls of OpenAI's own tools and for hosted MCP
// calls. The next request has the answers, as 0.20 writes them.

const shell = { type: "shell_call", call_id: "c1", action: { commands: ["rm -rf /"] } };
const patch = { type: "apply_patch_call", call_id: "c1", operation: {} };
const computer = { type: "computer_call", call_id: "c1", action: { type: "screenshot" } };
const hosted = { type: "mcp_approval_request", id: "c1", name: "find", arguments: "{}" };

const refused = { stdout: "", stderr: "policy 7", outcome: { type: "exit", exitCode: null } };
const shellAnswer = { type: "shell_call_output", callId: "c1", output: [refused] };
const patchAnswer = {
  type: "apply_patch_call_output",
  callId: "c1",
  status: "failed",
  output: "policy 7",
};
const computerAnswer = {
  type: "computer_call_result",
  callId: "c1",
  output: { providerData: { approvalStatus: "rejected", message: "policy 7" } },
};
const hostedAnswer = (approve: boolean) => ({
  type: "hosted_tool_call",
  name: "mcp_approval_response",
  providerData: { approve, approval_request_id: "c1", reason: "policy 7" },
});

const asking = (item: object) => ({ type: "response", _response: { output: [item] } });
const answered = (...items: readonly object[]): SdkSpanData => ({
  type: "response",
  _input: [{ type: "message", role: "user", content: "hi" }, ...items],
  _response: { output: [{ type: "message" }] },
});

async function played(item: object, answer: object, ...made: readonly string[]) {
  const heard = listen();
  await heard.processor.onTraceStart(TRACE);
  const calls = made.map((tool, n) => [`f${n}`, calling(tool)] as const);
  const first = ["t1", turn, ["m1", asking(item)], ...calls] as const;
  await play(heard, ["a1", agent("A"), first, ["t2", turn, ["m2", answered(answer)]]]);
  await heard.processor.onTraceEnd(TRACE);
  return heard;
}

const decisionsOf = (heard: Awaited<ReturnType<typeof played>>) =>
  heard.told.filter(({ event }) => /^tool_call_(approved|denied)$/.test(event.type));

describe("a callback that refuses a call", () => {
  it.each([
    ["shell", shell, shellAnswer],
    ["apply_patch", patch, patchAnswer],
    ["computer", computer, computerAnswer],
    ["find", hosted, hostedAnswer(false)],
  ])("leaves its decision and a denied span: %s", async (tool, item, answer) => {
    const heard = await played(item, answer);
    expect(await heard.tree()).toContain(`execute_tool ${tool} denied`);
    const decisions = decisionsOf(heard);
    expect(decisions.map(({ event }) => event)).toEqual([
      expect.objectContaining({ type: "tool_call_denied", tool_use_id: "c1", reason: "policy 7" }),
    ]);
    expect(decisions[0]?.envelope.details?.decision).toEqual({ outcome: "denied", by: "policy" });
    expect((await heard.events()).at(-1)).toBe("A complete");
  });
});

describe("a callback that refuses a call, while another tool's result ends the run", () => {
  it("leaves its decision if `noteResult` gets the state", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), ["m1", asking(shell)]]);
    await heard.processor.onTraceEnd(TRACE);
    const approvals = { shell: { approved: [], rejected: ["c1"], messages: { c1: "policy 7" } } };
    heard.processor.noteResult({
      state: {
        _trace: TRACE,
        _context: { toJSON: () => ({ approvals }) },
        _currentAgentSpan: { spanId: "a1" },
        _currentStep: { type: "next_step_final_output" },
      },
    });
    expect((await heard.events()).slice(3)).toEqual(["A tool_call_denied shell c1", "A complete"]);
    expect(decisionsOf(heard)[0]?.envelope.details?.decision).toMatchObject({ by: "policy" });
  });
});

describe("a callback that approves a call", () => {
  it("leaves its decision about a hosted call, which OpenAI makes", async () => {
    const heard = await played(hosted, hostedAnswer(true));
    await heard.events();
    expect(decisionsOf(heard).map(({ event }) => event)).toEqual([
      expect.objectContaining({ type: "tool_call_approved", tool: "find", tool_use_id: "c1" }),
    ]);
  });

  it.each([
    ["failed", { ...refused, outcome: { type: "exit", exitCode: 1 } }],
    ["did not start", refused],
  ])("leaves no denial of a command that %s", async (_, output) => {
    const heard = await played(shell, { ...shellAnswer, output: [output] }, "shell");
    await heard.events();
    expect(decisionsOf(heard)).toEqual([]);
  });
});

describe("a person who refuses a call", () => {
  it("is known from the next request, without the run's state", async () => {
    const heard = listen({ decidedBy: () => "ann" });
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), ["m1", asking(shell)]]);
    await play(heard, ["a2", agent("A"), ["m2", answered(shellAnswer)]]);
    await heard.processor.onTraceEnd(TRACE);
    await heard.events();
    const [denied] = decisionsOf(heard);
    expect(denied?.event).toMatchObject({ type: "tool_call_denied", reason: "policy 7" });
    expect(denied?.envelope.details?.decision).toMatchObject({ by: "user", person: "ann" });
  });

  it("is known once, if the state shows it, too", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), ["m1", asking(shell)]]);
    const approvals = { shell: { approved: [], rejected: ["c1"], messages: { c1: "not here" } } };
    const state = { _trace: TRACE, _context: { toJSON: () => ({ approvals }) } };
    heard.processor.noteState(state);
    await play(heard, ["a2", agent("A"), ["m2", answered(shellAnswer)]]);
    await heard.processor.onTraceEnd(TRACE);
    await heard.events();
    expect(decisionsOf(heard)).toHaveLength(1);
  });
});
