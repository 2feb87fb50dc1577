import { type NonStreamRunOptions, run, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { add, agent, boom, guardrail, pay } from "./scenes.ts";
import { asks, type Step, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

// However a run ends: it waits if the SDK has interruptions, failed if it threw, and is complete otherwise.

const waits = asks("pay", { n: 1 }, "p1");
const adds = asks("add", { a: 1 }, "a1");
const again = asks("add", { a: 2 }, "a2");
const all = { tools: [add, pay, boom(true)] };
const stop = { ...all, toolUseBehavior: "stop_on_first_tool" };
const final = () => ({ isFinalOutput: true, isInterrupted: undefined, finalOutput: "f" });
const later = {
  name: "later",
  execute: async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { tripwireTriggered: true, outputInfo: {} };
  },
};
const colleague = () => ({ ...all, handoffs: [agent("B", [[says("b")]])] });
const below = () => ({
  tools: [
    agent("Inner", [[waits]], all).asTool({ toolName: "ask", toolDescription: "asks another" }),
  ],
});
type Ending = readonly [
  name: string,
  answers: readonly Step[],
  agent: object,
  options?: Pick<NonStreamRunOptions<undefined>, "errorHandlers" | "maxTurns">,
];

const handled: Ending[3] = {
  maxTurns: 1,
  errorHandlers: { maxTurns: () => ({ finalOutput: "gave up" }) },
};

const ENDINGS: readonly Ending[] = [
  ["a call that waits", [[waits]], all],
  ["a call that waits beside one that ends runs", [[waits, adds]], stop],
  ["two calls that end the run", [[adds, again]], stop],
  ["one call twice", [[adds, adds]], stop],
  ["a function that ends the run", [[adds, again]], { ...all, toolUseBehavior: final }],
  ["a handoff beside a call", [[adds, asks("transfer_to_B")]], colleague()],
  ["a handoff beside a call that waits", [[waits, asks("transfer_to_B")]], colleague()],
  ["two handoffs", [[asks("transfer_to_B"), asks("transfer_to_B", {}, "h2")]], colleague()],
  ["a tool that throws", [[asks("boom")], [says("sorry")]], all],
  [
    "a tool that ends the run beside a call that waits",
    [[waits, asks("boom")]],
    { tools: [pay, boom(false)] },
  ],
  ["a tool that does not exist", [[asks("gone")], [says("ok")]], all],
  ["arguments that are no JSON", [[asks("add", "{oops")]], stop],
  ["a guardrail that trips", [[adds]], { ...stop, outputGuardrails: [guardrail("g", true)] }],
  ["a guardrail that trips while a call waits", [[waits]], { ...all, inputGuardrails: [later] }],
  ["a wait below a tool", [[asks("ask", { input: "x" })]], below()],
  ["too many turns", [[adds], [again]], all, { maxTurns: 1 }],
  ["too many turns, handled", [[adds], [again]], all, handled],
  ["too many turns with one ID, handled", [[adds], [adds]], all, handled],
];

/** The SDK's word: interruptions, an error, or neither. */
async function endOf(work: Promise<{ readonly interruptions: readonly unknown[] }>) {
  try {
    return (await work).interruptions.length > 0 ? "interrupted" : "complete";
  } catch {
    return "failed";
  }
}

const SCENES = ENDINGS.map(([name, answers, more, options]) => ({ name, answers, more, options }));

describe.each(SCENES)("$name", ({ answers, more, options }) => {
  it("ends as the SDK says", async () => {
    const heard = listen();
    const end = await endOf(run(agent("A", answers, more), "hi", options));
    await heard.events();
    expect(heard.told.at(-1)?.event.type).toBe(end);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("ends as the SDK says, as a stream in a workflow", async () => {
    const heard = listen();
    const work = withTrace("W", async () => {
      const result = await run(agent("A", answers, more), "hi", { ...options, stream: true });
      for await (const event of result) void event;
      await result.completed;
      return result;
    });
    const end = await endOf(work);
    await heard.events();
    expect(heard.told.at(-1)?.event.type).toBe(end);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });
});
