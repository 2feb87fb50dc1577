import { run, tool, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectTold, type Scene } from "./expect-told.ts";
import { add, agent, boom, calledOff, guardrail, rejected, streamed } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const AS_HELPER = { toolName: "helper", toolDescription: "helps" };

const SCENES: readonly Scene[] = [
  {
    name: "a tool's failure that the model is shown",
    work: () => run(agent("A", [[asks("boom")], [says("done")]], { tools: [boom(true)] }), "hi"),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start boom call_boom",
      "A tool_error boom internal: out of order",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool boom error internal
  chat complete
`,
  },
  {
    name: "a tool's failure that ends the run",
    work: () => rejected(run(agent("A", [[asks("boom")]], { tools: [boom(false)] }), "hi")),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start boom call_boom",
      "A tool_error boom internal: out of order",
      "A failed tool_error_terminal: Failed to run function tools: RangeError: out of order",
    ],
    tree: `
invoke_agent A failed tool_error_terminal
  chat complete
  execute_tool boom error internal
`,
  },
  {
    name: "a tool that throws what is no error",
    work: () => {
      const odd = tool({
        name: "odd",
        description: "throws a text",
        parameters: z.object({}),
        errorFunction: null,
        execute: async () => {
          throw "out of order";
        },
      });
      return rejected(run(agent("A", [[asks("odd")]], { tools: [odd] }), "hi"));
    },
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start odd call_odd",
      "A tool_error odd internal: something that is no error was thrown",
      "A failed tool_error_terminal: Failed to run function tools: out of order",
    ],
    tree: `
invoke_agent A failed tool_error_terminal
  chat complete
  execute_tool odd error internal
`,
  },
  {
    name: "a model's failure, of which its status tells",
    work: () => rejected(run(agent("A", [new Error("429 slow down")]), "hi")),
    told: [
      "A started",
      "A model_start",
      "A model_error model_dispatch: 429 slow down",
      "A failed model_dispatch: 429 slow down",
    ],
    tree: `
invoke_agent A failed model_dispatch
  chat error
`,
  },
  {
    name: "a model's failure, of which nothing tells",
    work: () => rejected(run(agent("A", [new Error("nobody knows")]), "hi")),
    told: [
      "A started",
      "A model_start",
      "A model_error model_dispatch: nobody knows",
      "A failed model_dispatch: nobody knows",
    ],
    tree: `
invoke_agent A failed model_dispatch
  chat error
`,
  },
  {
    name: "a model's failure while streaming",
    work: () => rejected(streamed(agent("A", [new TypeError("bad")]), "hi")),
    told: [
      "A started",
      "A model_start",
      "A model_error model_dispatch: bad",
      "A failed model_dispatch: bad",
    ],
    tree: `
invoke_agent A failed model_dispatch
  chat error
`,
  },
  {
    name: "an answer that nothing can be done with",
    work: () => rejected(run(agent("A", [[asks("nope")]]), "hi")),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start nope call_nope",
      "A tool_error nope validation: nope was not called: the agent has no such tool",
      "A failed model_dispatch: Tool nope not found in agent A.",
    ],
    tree: `
invoke_agent A failed model_dispatch
  chat complete
  execute_tool nope error validation
`,
  },
  {
    name: "too many turns",
    work: () =>
      rejected(run(agent("A", [[asks("add", { a: 1 })]], { tools: [add] }), "hi", { maxTurns: 1 })),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start add call_add",
      "A tool_complete add call_add",
      "A failed usage_limit_exceeded: Max turns (1) exceeded",
    ],
    tree: `
invoke_agent A failed usage_limit_exceeded
  chat complete
  execute_tool add complete
`,
  },
  {
    name: "too many turns, handled",
    work: () =>
      run(agent("A", [[asks("add", { a: 1 })]], { tools: [add] }), "hi", {
        maxTurns: 1,
        errorHandlers: { maxTurns: () => ({ finalOutput: "gave up" }) },
      }),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start add call_add",
      "A tool_complete add call_add",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool add complete
`,
  },
  {
    name: "called off",
    work: () => {
      const off = new AbortController();
      return rejected(run(agent("A", [calledOff(off)]), "hi", { signal: off.signal }));
    },
    told: [
      "A started",
      "A model_start",
      "A model_error cancelled: This operation was aborted",
      "A failed cancelled: This operation was aborted",
    ],
    tree: `
invoke_agent A failed cancelled
  chat error
`,
  },
  {
    name: "called off while streaming",
    work: () => {
      const off = new AbortController();
      return streamed(agent("A", [calledOff(off)]), "hi", off.signal);
    },
    told: [
      "A started",
      "A model_start",
      "A model_error cancelled: This operation was aborted",
      "A failed cancelled: This operation was aborted",
    ],
    tree: `
invoke_agent A failed cancelled
  chat error
`,
  },
  {
    name: "a handoff to an agent that fails",
    work: () => {
      const billing = agent("Billing", [new Error("503 down")]);
      const triage = agent("Triage", [[asks("transfer_to_Billing")]], { handoffs: [billing] });
      return rejected(run(triage, "hi"));
    },
    told: [
      "Triage started",
      "Triage model_start",
      "Triage model_complete",
      "Billing started below Triage",
      "Billing model_start",
      "Billing model_error model_dispatch: 503 down",
      "Billing failed model_dispatch: 503 down",
      "Triage failed model_dispatch: 503 down",
    ],
    tree: `
invoke_agent Triage failed model_dispatch
  chat complete
  invoke_agent Billing failed model_dispatch
    chat error
`,
    counts: { handoffs: 1 },
  },
  {
    name: "an agent as a tool that fails",
    work: () => {
      const helper = agent("Helper", [new Error("503 down")]).asTool(AS_HELPER);
      const steps = [[asks("helper", { input: "q" })], [says("done")]];
      return run(agent("A", steps, { tools: [helper] }), "hi");
    },
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start helper call_helper",
      "Helper started below A",
      "Helper model_start",
      "Helper model_error model_dispatch: 503 down",
      "Helper failed model_dispatch: 503 down",
      "A tool_error helper transient: 503 down",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool helper error transient
    invoke_agent Helper failed model_dispatch
      chat error
  chat complete
`,
  },
  {
    name: "an input guardrail that trips",
    work: () => {
      const inputGuardrails = [guardrail("polite", true), guardrail("other", false)];
      return rejected(run(agent("A", [[says("done")]], { inputGuardrails }), "hi"));
    },
    told: ["A started", "A failed internal: an input guardrail tripped: polite"],
    tree: `
invoke_agent A failed internal
`,
    counts: { guardrails: 2, tripwires: 1 },
  },
  {
    name: "an output guardrail that trips",
    work: () =>
      rejected(
        run(agent("A", [[says("done")]], { outputGuardrails: [guardrail("clean", true)] }), "hi"),
      ),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A failed internal: an output guardrail tripped: clean",
    ],
    tree: `
invoke_agent A failed internal
  chat complete
`,
    counts: { guardrails: 1, tripwires: 1 },
  },
  {
    name: "a workflow that fails",
    work: () =>
      rejected(
        withTrace("Jokes", async () => {
          await run(agent("Teller", [[says("a joke")]]), "hi");
          await run(agent("Judge", [new Error("500 no")]), "hi");
        }),
      ),
    told: [
      "Jokes started",
      "Teller started below Jokes",
      "Teller model_start",
      "Teller model_complete",
      "Teller complete",
      "Judge started below Jokes",
      "Judge model_start",
      "Judge model_error model_dispatch: 500 no",
      "Judge failed model_dispatch: 500 no",
      "Jokes failed model_dispatch: 500 no",
    ],
    tree: `
invoke_workflow Jokes failed model_dispatch
  invoke_agent Teller complete
    chat complete
  invoke_agent Judge failed model_dispatch
    chat error
`,
  },
  {
    name: "a workflow that goes on after a failure",
    work: () =>
      withTrace("Jokes", async () => {
        await rejected(run(agent("Teller", [new Error("500 no")]), "hi"));
        await run(agent("Judge", [[says("good")]]), "hi");
      }),
    told: [
      "Jokes started",
      "Teller started below Jokes",
      "Teller model_start",
      "Teller model_error model_dispatch: 500 no",
      "Teller failed model_dispatch: 500 no",
      "Judge started below Jokes",
      "Judge model_start",
      "Judge model_complete",
      "Judge complete",
      "Jokes complete",
    ],
    tree: `
invoke_workflow Jokes complete
  invoke_agent Teller failed model_dispatch
    chat error
  invoke_agent Judge complete
    chat complete
`,
  },
];

describe("how runs end", () => {
  it.each(SCENES)("$name", expectTold);
});

describe("a run that failed", () => {
  it("has what its tree used at its root, and nowhere else", async () => {
    const heard = listen();
    const inner = agent("B", [[asks("boom")]], { tools: [boom(false)] });
    const outer = agent("A", [[asks("helper", { input: "x" })]], {
      tools: [inner.asTool({ ...AS_HELPER, customOutputExtractor: () => "out" })],
    });
    const work = async () => {
      await run(agent("C", [[says("done")]]), "hi");
      throw await rejected(run(outer, "hi"));
    };
    await rejected(withTrace("whole", work));
    await heard.processor.forceFlush();
    const roots = heard.spans().filter((span) => span.parentSpanContext === undefined);
    expect(roots.map((span) => span.attributes["gen_ai.usage.input_tokens"])).toEqual([
      heard
        .spans()
        .filter(({ name }) => name.startsWith("chat"))
        .reduce((sum, span) => sum + Number(span.attributes["gen_ai.usage.input_tokens"] ?? 0), 0),
    ]);
    const below = heard.told.filter(({ envelope }) => envelope.details?.usage !== undefined);
    expect(below.map(({ event }) => event.type)).toEqual(["failed"]);
  });
});
