import { describe, expect, it } from "vitest";
import type { SdkSpanData } from "../../../src/entries/openai-agents.ts";
import { agent, calling, play, saying, TRACE, type Tree } from "./newer-spans.ts";
import { listen } from "./told.ts";

// Calls whose span has another name than the model's item, or that have no span. As 0.20 makes them.

const pay = {
  type: "function_call",
  name: "pay",
  call_id: "c1",
  arguments: "{}",
  namespace: "bank",
};
const shell = { type: "shell_call", call_id: "c1", action: { commands: ["ls"] } };
const patch = { type: "apply_patch_call", call_id: "c1", operation: {} };
const computer = { type: "computer_call", call_id: "c1", action: { type: "screenshot" } };
const hosted = { type: "mcp_approval_request", id: "c1", name: "find", arguments: "{}" };

const asks = (...output: readonly object[]): Tree => [
  "m1",
  { type: "response", _response: { output } },
];

/** A state of the SDK with these approvals. */
function stateOf(approvals: object) {
  return { _trace: TRACE, _context: { toJSON: () => ({ approvals }) } };
}

async function playing(...trees: readonly Tree[]) {
  const heard = listen();
  await heard.processor.onTraceStart(TRACE);
  for (const tree of trees) await play(heard, tree);
  await heard.processor.onTraceEnd(TRACE);
  return heard;
}

describe("a tool that the application has named", () => {
  const named: readonly (readonly [string, object])[] = [
    ["bank.pay", pay],
    ["bash", shell],
    ["edit", patch],
    ["screen", computer],
  ];

  it.each(named)("%s has made the call of the model, so nothing waits", async (tool, item) => {
    const heard = await playing(["a1", agent("A"), asks(item), ["f1", calling(tool)]]);
    expect((await heard.events()).slice(3)).toEqual([
      `A tool_start ${tool} c1`,
      `A tool_complete ${tool} c1`,
      "A complete",
    ]);
  });

  it.each(named)("%s is approved after a pause", async (tool, item) => {
    const again: Tree = ["a2", agent("A"), ["f1", calling(tool)], ["m2", saying]];
    const heard = await playing(["a1", agent("A"), asks(item)], again);
    expect(await heard.events()).toContain(`A tool_call_approved ${tool} c1`);
  });

  it("is not taken for another tool of the same answer", async () => {
    const other = { ...pay, name: "look", call_id: "c2", namespace: undefined };
    const calls: readonly Tree[] = [
      ["f1", calling("look")],
      ["f2", calling("bash")],
    ];
    const heard = await playing(["a1", agent("A"), asks(shell, other), ...calls]);
    const lines = await heard.events();
    expect(lines).toContain("A tool_start look c2");
    expect(lines).toContain("A tool_start bash c1");
    expect(lines.at(-1)).toBe("A complete");
  });
});

describe("a decision about a call without a span", () => {
  it.each([
    ["bash", shell],
    ["edit", patch],
    ["screen", computer],
    ["find", hosted],
  ])("is known from the state: %s is denied", async (tool, item) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), asks(item)]);
    const entry = { approved: [], rejected: ["c1"], messages: { c1: "not here" } };
    const state = stateOf({ [tool]: entry });
    heard.processor.noteState(state);
    await play(heard, ["a2", agent("A"), ["m2", saying]]);
    await heard.processor.onTraceEnd(TRACE);
    const denied = heard.told.filter(({ event }) => event.type === "tool_call_denied");
    expect(denied.map(({ event }) => event)).toMatchObject([
      { tool, tool_use_id: "c1", reason: "not here" },
    ]);
    expect(denied[0]?.envelope.details?.decision).toMatchObject({ by: "user", outcome: "denied" });
    expect((await heard.events()).at(-1)).toBe("A complete");
    expect(await heard.tree()).toContain(`execute_tool ${tool} denied`);
  });

  it("is known from the state: a hosted call is approved", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), asks(hosted)]);
    const state = stateOf({ find: { approved: ["c1"], rejected: [] } });
    heard.processor.noteState(state);
    await play(heard, ["a2", agent("A"), ["m2", saying]]);
    expect((await heard.events()).slice(4)).toEqual([
      "A started",
      "A tool_call_approved find c1",
      "A model_start",
      "A model_complete",
      "A complete",
    ]);
  });

  it("ends the wait also if the agent ends without a further answer", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), asks(shell)]);
    const state = stateOf({ shell: { approved: [], rejected: ["c1"] } });
    heard.processor.noteState(state);
    await play(heard, ["a2", agent("A")]);
    expect((await heard.events()).slice(4)).toEqual([
      "A started",
      "A tool_call_denied shell c1",
      "A complete",
    ]);
  });
});

describe("a call that was not made, though nobody is asked", () => {
  const look = { type: "function_call", name: "look", call_id: "c1", arguments: "{}" };

  it("has the ID of one that was made: the SDK skips it", async () => {
    const heard = await playing([
      "a1",
      agent("A"),
      asks(look),
      ["f1", calling("look")],
      ["m2", { type: "response", _response: { output: [look] } }],
    ]);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });

  it("has the ID of one that was made, and an older SDK makes it: it has its ID", async () => {
    const heard = await playing([
      "a1",
      agent("A"),
      asks(look),
      ["f1", calling("look")],
      ["m2", { type: "response", _response: { output: [look] } }],
      ["f2", calling("look")],
    ]);
    const starts = (await heard.events()).filter((line) => line.includes("tool_start"));
    expect(starts).toEqual(["A tool_start look c1", "A tool_start look c1"]);
  });

  it("is left by an error that the application handled", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const data: SdkSpanData = agent("A");
    await play(heard, ["a1", data, asks(look)], null, {
      message: "Max turns exceeded",
      data: { max_turns: 2 },
    });
    await heard.processor.onTraceEnd(TRACE);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });
});
