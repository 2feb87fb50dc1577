import { run, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import type { SdkSpanData } from "../../../src/entries/openai-agents.ts";
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
  used,
} from "./newer-spans.ts";
import { add, pay, agent as scripted } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

// A run waits only if something says so: the SDK's state, or a span that the SDK left open.

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An agent that works a while after its last call. */
const slow = (name: string) =>
  scripted(name, [[says("done")]], {
    outputGuardrails: [
      {
        name: "slow",
        execute: async () => {
          await wait(50);
          return { outputInfo: {}, tripwireTriggered: false };
        },
      },
    ],
  });

const pausesOf = (lines: readonly string[]) => lines.filter((line) => line.includes("interrupted"));

describe("an agent of an SDK without task spans", () => {
  it.each([
    ["the SDK answers invalid arguments itself", "stop_on_first_tool", [asks("add", "{oops")]],
    [
      "a call is named twice",
      { stopAtToolNames: ["add"] },
      [asks("add", { a: 1 }, "a1"), asks("add", { a: 1 }, "a1")],
    ],
  ])("is complete: its span ended (%s)", async (_, toolUseBehavior, answer) => {
    const heard = listen();
    await run(scripted("A", [answer], { tools: [add], toolUseBehavior }), "hi");
    const lines = await heard.events();
    expect(pausesOf(lines)).toEqual([]);
    expect(lines.at(-1)).toBe("A complete");
  });

  it("waits: its span is open, though another call has the ID", async () => {
    const heard = listen();
    const answer = [asks("add", { a: 1 }, "a1"), asks("pay", { n: 1 }, "a1")];
    await run(scripted("A", [answer], { tools: [add, pay] }), "hi");
    expect((await heard.events()).at(-1)).toBe("A interrupted approval_pending a1");
  });

  it("does not wait while it works after the end of its trace", async () => {
    const heard = listen();
    let later: Promise<unknown> | undefined;
    await withTrace("Shop", async () => {
      later = run(slow("A"), "hi");
      await wait(20);
    });
    await later;
    const lines = await heard.events();
    expect(pausesOf(lines)).toEqual([]);
    expect(lines).toContain("A complete");
  });

  it("does not wait because another run of the trace does", async () => {
    const heard = listen();
    const a = scripted("A", [[asks("pay", { n: 1 }, "p1")]], { tools: [pay] });
    await withTrace("Shop", async () => {
      const beside = run(slow("B"), "hi");
      await wait(20);
      heard.processor.noteResult(await run(a, "hi"));
      await beside;
    });
    const lines = await heard.events();
    expect(pausesOf(lines)).toEqual([
      "A interrupted approval_pending p1",
      "Shop interrupted approval_pending p1",
    ]);
    expect(lines).toContain("B complete");
  });
});

/** The SDK's state of a run whose agent has that span. */
function stateOf(spanId: string, step: string, waiting: readonly object[] = []) {
  return {
    _trace: TRACE,
    _currentAgentSpan: { spanId },
    _currentStep: { type: step },
    getInterruptions: () => waiting,
  };
}

/** Plays one agent up to the end of its trace. */
async function played(asked: SdkSpanData, more: object = {}, ...made: readonly string[]) {
  const heard = listen();
  await heard.processor.onTraceStart(TRACE);
  const calls = made.map((tool, n) => [`f${n}`, calling(tool)] as const);
  const work = ["t1", turn, ["m1", asked], ...calls] as const;
  await play(heard, ["k1", task, ["a1", { ...agent("A"), ...more }, work]]);
  await heard.processor.onTraceEnd(TRACE);
  return heard;
}

describe("an agent of an SDK with task spans", () => {
  it("is complete if its state says so, though a call of its last answer was not made", async () => {
    const heard = await played(asking("pay", "p1"));
    heard.processor.noteResult({ state: stateOf("a1", "next_step_final_output") });
    expect((await heard.events()).at(-1)).toBe("A complete");
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("is cancelled if its reader left before the calls of its last answer", async () => {
    const heard = await played(asking("pay", "p1"));
    heard.processor.noteResult({ state: stateOf("a1", "next_step_run_again"), cancelled: true });
    expect((await heard.events()).at(-1)).toBe("A failed cancelled: the stream was broken off");
  });

  it.each<[string, Tree[], string]>([
    [
      "in a turn after a made call, in which its model was not asked",
      [
        ["t1", used, ["m1", asking("pay", "p1")], ["f1", calling("pay")]],
        ["t2", turn],
      ],
      "A failed cancelled: the stream was broken off",
    ],
    [
      "in such a turn of a model without spans",
      [
        ["t1", used, ["f1", calling("pay")]],
        ["t2", turn],
      ],
      "A failed cancelled: the stream was broken off",
    ],
    [
      "in a turn whose model has no span",
      [
        ["t1", used],
        ["t2", used],
      ],
      "A complete",
    ],
    [
      "in a turn of an SDK that shows no model call",
      [
        ["t1", turn],
        ["t2", turn],
      ],
      "A complete",
    ],
    [
      "in a turn with a call of a tool",
      [
        ["t1", used, ["m1", saying]],
        ["t2", turn, ["f1", calling("pay")]],
      ],
      "A complete",
    ],
  ])("that ends %s", async (_, turns, end) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["k1", task, ["a1", agent("A"), ...turns]]);
    await heard.processor.onTraceEnd(TRACE);
    expect((await heard.events()).at(-1)).toBe(end);
  });

  it("is not cancelled in the first turn after a pause, which may only have answers of a person", async () => {
    const heard = await played(asking("pay", "p1"));
    const state = stateOf("a1", "next_step_interruption");
    heard.processor.noteState(state);
    state._currentAgentSpan.spanId = "a2";
    state._currentStep.type = "next_step_final_output";
    await play(heard, ["k2", task, ["a2", agent("A"), ["t2", turn]]]);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });

  it.each<[string, Tree]>([
    ["its answers cannot be read", ["m1", { type: "response" }]],
    ["its model makes no spans", ["t2", turn]],
  ])("waits if its state says so, though %s", async (_, shown) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["k1", task, ["a1", agent("A"), ["t1", turn, shown]]]);
    await heard.processor.onTraceEnd(TRACE);
    const rawItem = { type: "shell_call", callId: "s1" };
    const waiting = [{ rawItem, toolName: "bash", agent: { name: "A" } }];
    heard.processor.noteResult({ state: stateOf("a1", "next_step_interruption", waiting) });
    expect((await heard.events()).at(-1)).toBe("A interrupted approval_pending s1");
    expect(heard.told.at(-1)?.event).toMatchObject({
      payload: [{ tool_use_id: "s1", tool: "bash" }],
    });
  });

  it("is complete if a resumed state says so", async () => {
    const heard = await played(asking("pay", "p1"));
    const state = stateOf("a1", "next_step_interruption");
    heard.processor.noteState(state);
    state._currentAgentSpan.spanId = "a2";
    state._currentStep.type = "next_step_final_output";
    await play(heard, ["k2", task, ["a2", agent("A"), ["m2", asking("pay", "p2")]]]);
    expect(pausesOf(await heard.events())).toEqual(["A interrupted approval_pending p1"]);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });

  it.each([
    ["another tool ended the run", ["look"], asking("gone", "g1"), { tools: ["look"] }],
    ["an equal call was made", ["pay"], both("p1", "p1"), { tools: ["pay"] }],
  ])("is complete: the SDK does not make such a call (%s)", async (_, made, asked, more) => {
    const heard = await played(asked, more, ...made);
    expect((await heard.events()).at(-1)).toBe("A complete");
  });

  it("looks paused if nothing says how it ended", async () => {
    const heard = await played(asking("pay", "p1"), { tools: ["pay"] });
    expect((await heard.events()).at(-1)).toBe("A interrupted approval_pending p1");
  });

  it("that continues at once was paused, though its answers cannot be read", async () => {
    const heard = await played({ type: "response" });
    await play(heard, ["k2", task, ["a2", agent("A"), ["m2", saying]]]);
    expect(pausesOf(await heard.events())).toHaveLength(1);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it.each([
    ["alone", ["bash"], undefined],
    ["beside others", ["look", "bash"], [{ type: "function" }, { type: "shell" }]],
  ])("waits for a shell by its own name (%s)", async (_, tools, definitions) => {
    const output = [{ type: "shell_call", call_id: "s1", action: { commands: ["ls"] } }];
    const answer = { type: "response", _response: { output, tools: definitions } };
    const heard = await played(answer, { tools });
    await heard.events();
    expect(heard.told.at(-1)?.event).toMatchObject({
      payload: [{ tool_use_id: "s1", tool: "bash" }],
    });
  });
});

function both(...ids: readonly string[]): SdkSpanData {
  const output = ids.map((call_id) => ({
    type: "function_call",
    name: "pay",
    call_id,
    arguments: "{}",
  }));
  return { type: "response", _response: { output } };
}

describe("a workflow whose trace the SDK ends", () => {
  it("did not fail with one of several runs: its code handled the error", async () => {
    const heard = listen();
    await withTrace("Batch", () =>
      Promise.allSettled([
        run(scripted("A", [[says("done")]]), "hi"),
        run(
          scripted("B", [[asks("add", { a: 1 })], new Error("500 boom")], { tools: [add] }),
          "hi",
        ),
      ]),
    );
    const lines = await heard.events();
    expect(lines).toContain("B failed model_dispatch: 500 boom");
    expect(lines.at(-1)).toBe("Batch complete");
  });

  it("failed if its code threw", async () => {
    const heard = listen();
    const both = withTrace("Batch", () =>
      Promise.all([
        run(scripted("A", [[says("done")]]), "hi"),
        run(
          scripted("B", [[asks("add", { a: 1 })], new Error("500 boom")], { tools: [add] }),
          "hi",
        ),
      ]),
    );
    await expect(both).rejects.toThrow("500 boom");
    expect((await heard.events()).at(-1)).toBe("Batch failed model_dispatch: 500 boom");
  });
});
