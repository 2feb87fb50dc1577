import { describe, expect, it } from "vitest";
import {
  agent,
  asking,
  calling,
  play,
  saying,
  TRACE,
  type Tree,
  task,
  turn,
} from "./newer-spans.ts";
import { listen } from "./told.ts";

describe("an SDK that ends the spans of agents that pause", () => {
  it("is told that a run goes on which was paused in another process", async () => {
    const heard = listen();
    const state = { _trace: { ...TRACE, traceId: "trace_newer", metadata: {} } };
    expect(heard.processor.noteState(state)).toBe(state);
    await heard.processor.onTraceStart(TRACE);
    const pays: Tree = ["t2", turn, ["f1", calling("pay")]];
    await play(heard, ["k2", task, ["a2", agent("A"), pays, ["t3", turn, ["m2", saying]]]]);
    await heard.processor.onTraceEnd(TRACE);
    expect(await heard.events()).toEqual([
      "A started",
      expect.stringMatching(/^A tool_start pay/),
      expect.stringMatching(/^A tool_complete pay/),
      "A model_start",
      "A model_complete",
      "A complete",
    ]);
    const [started] = heard.told;
    expect(started?.event.run_id).toBe("trace_newer.a2");
    expect(started?.envelope).toMatchObject({
      root_run_id: "trace_newer",
      resumed_from_run_id: "trace_newer",
    });
    expect(heard.processor.counts).toMatchObject({ forgottenTraces: 0, faults: 0 });
  });

  it("notes nothing of a state whose trace it knows, or that has none", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    heard.processor.noteState({ _trace: TRACE });
    heard.processor.noteState({ _trace: null });
    await play(heard, ["a1", agent("A"), ["m1", saying]]);
    await heard.events();
    expect(heard.told[0]?.event.run_id).toBe("trace_newer");
    expect(heard.told[0]?.envelope.resumed_from_run_id).toBeUndefined();
  });

  it("is seen to pause, and to go on", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const asks: Tree = ["t1", turn, ["m1", asking("pay", "p1")]];
    await play(heard, ["k1", task, ["a1", agent("A"), asks]]);
    await heard.processor.onTraceEnd(TRACE);
    const pays: Tree = ["t2", turn, ["f1", calling("pay")]];
    await play(heard, ["k2", task, ["a2", agent("A"), pays, ["t3", turn, ["m2", saying]]]]);
    expect(await heard.events()).toEqual([
      "A started",
      "A model_start",
      "A model_complete",
      "A interrupted approval_pending p1",
      "A started",
      "A tool_call_approved pay p1",
      "A tool_start pay p1",
      "A tool_complete pay p1",
      "A model_start",
      "A model_complete",
      "A complete",
    ]);
    expect(heard.processor.counts.otherSpans).toBe(0);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  const patch = { type: "apply_patch_call", call_id: "c1", operation: {} };
  const shell = { type: "shell_call", call_id: "c1", action: { commands: ["ls"] } };
  const computer = { type: "computer_call", call_id: "c1", action: { type: "screenshot" } };
  const hosted = { type: "mcp_approval_request", id: "c1", name: "find", arguments: "{}" };

  it.each([
    ["shell", shell, "A tool_start shell c1"],
    ["apply_patch", patch, "A tool_start apply_patch c1"],
    ["computer", computer, "A tool_start computer c1"],
    ["find", hosted, undefined],
  ])("is seen to wait for one of OpenAI's own tools: %s", async (tool, item, begins) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const asks: Tree = ["m1", { type: "response", _response: { output: [item] } }];
    await play(heard, ["a1", agent("A"), asks]);
    await heard.processor.onTraceEnd(TRACE);
    const calls: readonly Tree[] = begins === undefined ? [] : [["f1", calling(tool)]];
    await play(heard, ["a2", agent("A"), ...calls, ["m2", saying]]);
    const lines = await heard.events();
    expect(lines.slice(0, 5)).toEqual([
      "A started",
      "A model_start",
      "A model_complete",
      "A interrupted approval_pending c1",
      "A started",
    ]);
    expect(lines.find((line) => line.includes("tool_start"))).toBe(begins);
    expect(lines.at(-1)).toBe("A complete");
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it.each([
    [
      "shell",
      [
        { type: "shell_call", call_id: "c1", action: { commands: ["rm -r /"], timeout_ms: 5 } },
        { type: "shell_call", call_id: "c2", action: { commands: ["ls"], timeout_ms: 5 } },
      ],
      '{"commands":["ls"],"timeoutMs":5}',
    ],
    [
      "apply_patch",
      [
        { type: "apply_patch_call", call_id: "c1", operation: { type: "delete_file", path: "a" } },
        { type: "apply_patch_call", call_id: "c2", operation: { type: "delete_file", path: "b" } },
      ],
      '{"path":"b","type":"delete_file"}',
    ],
  ])("knows which of two calls of %s was approved", async (tool, output, input) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), ["m1", { type: "response", _response: { output } }]]);
    await heard.processor.onTraceEnd(TRACE);
    await play(heard, ["a2", agent("A"), ["f1", { ...calling(tool), input }], ["m2", saying]]);
    const lines = (await heard.events()).filter((line) => line.includes(` ${tool} `));
    expect(lines).toEqual([
      `A tool_call_approved ${tool} c2`,
      `A tool_start ${tool} c2`,
      `A tool_complete ${tool} c2`,
    ]);
  });

  it.each([
    [
      "responses",
      { type: "response", _response: { output: [call("escalate", "h1"), call("pay", "p1")] } },
    ],
    [
      "chat",
      {
        type: "generation",
        output: [
          chat([
            ["escalate", "h1"],
            ["pay", "p1"],
          ]),
        ],
      },
    ],
  ])("does not wait for a handoff that the same answer asks for (%s)", async (_, asks) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const triage = { ...agent("A"), tools: ["pay"], handoffs: ["Billing"] };
    await play(heard, ["a1", triage, ["m1", asks]]);
    await heard.processor.onTraceEnd(TRACE);
    expect((await heard.events()).at(-1)).toBe("A interrupted approval_pending p1");
    expect(heard.told.at(-1)?.event).toMatchObject({
      payload: [{ tool_use_id: "p1", tool: "pay" }],
    });
  });

  it("waits for a tool of a namespace, whatever the agent calls it", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const output = [{ ...call("pay", "p1"), namespace: "bank" }];
    const triage = { ...agent("A"), tools: ["bank.pay"], handoffs: ["Billing"] };
    await play(heard, ["a1", triage, ["m1", { type: "response", _response: { output } }]]);
    await heard.processor.onTraceEnd(TRACE);
    expect((await heard.events()).at(-1)).toBe("A interrupted approval_pending p1");
  });

  it("does not wait for a shell that is where the model is", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const output = [shell, { type: "shell_call_output", call_id: "c1" }];
    await play(heard, ["a1", agent("A"), ["m1", { type: "response", _response: { output } }]]);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });

  it("is seen to pause below a tool", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const inner: Tree = ["a2", agent("Inner"), ["m2", asking("pay", "p1")]];
    await play(heard, [
      "a1",
      agent("Outer"),
      ["m1", asking("inner", "i1")],
      ["f1", calling("inner"), inner],
    ]);
    await heard.processor.onTraceEnd(TRACE);
    const again: Tree = ["a4", agent("Inner"), ["f3", calling("pay")], ["m3", saying]];
    await play(heard, ["a3", agent("Outer"), ["f2", calling("inner"), again], ["m4", saying]]);
    expect(await heard.tree()).toBe(`invoke_agent Outer interrupted
  chat complete
  execute_tool inner interrupted
    invoke_agent Inner interrupted
      chat complete
invoke_agent Outer complete
  execute_tool inner complete
    invoke_agent Inner complete
      execute_tool pay complete
      chat complete
  chat complete
`);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  const inner = (n: number): Tree => [`i${n}`, agent("Inner"), [`n${n}`, asking("pay", `p${n}`)]];
  const outer: Tree = [
    "a1",
    agent("Outer"),
    ["m1", asking("ask", "k1")],
    ["f1", calling("ask"), inner(1)],
    ["m2", saying],
  ];
  const again: Tree = ["i3", agent("Inner"), ["f3", calling("pay")], ["m4", saying]];

  it("goes on without an agent below a tool that answered in its place", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, outer);
    await heard.processor.onTraceEnd(TRACE);
    // Somebody has decided: the agent's own state is run, in the old trace.
    await heard.processor.onTraceStart(TRACE);
    await play(heard, again);
    await heard.processor.onTraceEnd(TRACE);
    expect(await heard.tree()).toBe(`invoke_agent Outer complete
  chat complete
  execute_tool ask interrupted
    invoke_agent Inner interrupted
      chat complete
    invoke_agent Inner complete
      execute_tool pay complete
      chat complete
  chat complete
`);
    const resumed = heard.told.map(({ envelope }) => envelope.resumed_from_run_id);
    expect(resumed.filter((id) => id !== undefined)).toEqual(["i1"]);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("says of none of two agents left waiting that it goes on", async () => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const [id, data, ...below] = outer;
    const second: readonly Tree[] = [
      ["f2", calling("ask"), inner(2)],
      ["m3", saying],
    ];
    await play(heard, [id, data, ...below, ...second]);
    await play(heard, again);
    await heard.processor.onTraceEnd(TRACE);
    const lines = (await heard.tree()).split("\n").filter((line) => line.includes("invoke_agent"));
    expect(lines).toEqual([
      "invoke_agent Outer complete",
      "    invoke_agent Inner interrupted",
      "    invoke_agent Inner interrupted",
      "  invoke_agent Inner complete",
    ]);
    expect(heard.told.filter(({ envelope }) => envelope.resumed_from_run_id)).toEqual([]);
  });

  it("pauses a named workflow when its trace ends", async () => {
    const heard = listen();
    const named = { ...TRACE, name: "Support" };
    await heard.processor.onTraceStart(named);
    await play(heard, ["a1", agent("A"), ["m1", asking("pay", "p1")]]);
    await heard.processor.onTraceEnd(named);
    await play(heard, ["a2", agent("A"), ["f1", calling("pay")], ["m2", saying]]);
    expect(await heard.tree()).toBe(`invoke_workflow Support interrupted
  invoke_agent A interrupted
    chat complete
invoke_workflow Support complete
  invoke_agent A complete
    execute_tool pay complete
    chat complete
`);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });
});

function call(name: string, call_id: string) {
  return { type: "function_call", name, call_id, arguments: "{}" };
}

function chat(calls: readonly (readonly [string, string])[]) {
  const tool_calls = calls.map(([name, id]) => ({ id, function: { name, arguments: "{}" } }));
  return { choices: [{ message: { tool_calls }, finish_reason: "tool_calls" }] };
}
