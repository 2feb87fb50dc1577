import { run, tool, withCustomSpan, withTrace } from "@openai/agents-core";
import { describe, it } from "vitest";
import { z } from "zod";
import { expectTold, type Scene } from "./expect-told.ts";
import { add, agent, streamed } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";

const AS_HELPER = { toolName: "helper", toolDescription: "helps" };

const SCENES: readonly Scene[] = [
  {
    name: "success, with tools in parallel",
    work: () =>
      run(
        agent("A", [[asks("add", { a: 1 }, "c1"), asks("add", { a: 2 }, "c2")], [says("done")]], {
          tools: [add],
        }),
        "hi",
      ),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start add c1",
      "A tool_start add c2",
      "A tool_complete add c1",
      "A tool_complete add c2",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool add complete
  execute_tool add complete
  chat complete
`,
  },
  {
    name: "streaming",
    work: () =>
      streamed(agent("A", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] }), "hi"),
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start add call_add",
      "A tool_complete add call_add",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool add complete
  chat complete
`,
  },
  {
    name: "a handoff",
    work: () => {
      const billing = agent("Billing", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] });
      const triage = agent("Triage", [[asks("transfer_to_Billing")]], { handoffs: [billing] });
      return run(triage, "hi");
    },
    told: [
      "Triage started",
      "Triage model_start",
      "Triage model_complete",
      "Billing started below Triage",
      "Billing model_start",
      "Billing model_complete",
      "Billing tool_start add call_add",
      "Billing tool_complete add call_add",
      "Billing model_start",
      "Billing model_complete",
      "Billing complete",
      "Triage complete",
    ],
    tree: `
invoke_agent Triage complete
  chat complete
  invoke_agent Billing complete
    chat complete
    execute_tool add complete
    chat complete
`,
    counts: { handoffs: 1 },
  },
  {
    name: "an agent as a tool",
    work: () => {
      const helper = agent("Helper", [[says("helped")]]).asTool(AS_HELPER);
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
      "Helper model_complete",
      "Helper complete",
      "A tool_complete helper call_helper",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool helper complete
    invoke_agent Helper complete
      chat complete
  chat complete
`,
  },
  {
    name: "a guardrail that runs an agent",
    work: () => {
      const execute = async () => {
        await run(agent("Guard", [[says("fine")]]), "hi");
        return { tripwireTriggered: false, outputInfo: {} };
      };
      const inputGuardrails = [{ name: "asks an agent", execute, runInParallel: false }];
      return run(agent("A", [[says("done")]], { inputGuardrails }), "hi");
    },
    told: [
      "A started",
      "Guard started below A",
      "Guard model_start",
      "Guard model_complete",
      "Guard complete",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  invoke_agent Guard complete
    chat complete
  chat complete
`,
    counts: { guardrails: 1 },
  },
  {
    name: "a workflow with a name",
    work: () =>
      withTrace("Jokes", async () => {
        await run(agent("Teller", [[says("a joke")]]), "hi");
        await run(agent("Judge", [[says("good")]]), "hi");
      }),
    told: [
      "Jokes started",
      "Teller started below Jokes",
      "Teller model_start",
      "Teller model_complete",
      "Teller complete",
      "Judge started below Jokes",
      "Judge model_start",
      "Judge model_complete",
      "Judge complete",
      "Jokes complete",
    ],
    tree: `
invoke_workflow Jokes complete
  invoke_agent Teller complete
    chat complete
  invoke_agent Judge complete
    chat complete
`,
  },
  {
    name: "an agent below a span of the user's",
    work: () => {
      const steps = tool({
        name: "steps",
        description: "runs an agent in a span",
        parameters: z.object({}),
        execute: () =>
          withCustomSpan(
            async () => {
              await run(agent("Deep", [[says("found")]]), "hi");
              return "found";
            },
            { data: { name: "step" } },
          ),
      });
      return run(agent("A", [[asks("steps")], [says("done")]], { tools: [steps] }), "hi");
    },
    told: [
      "A started",
      "A model_start",
      "A model_complete",
      "A tool_start steps call_steps",
      "Deep started below A",
      "Deep model_start",
      "Deep model_complete",
      "Deep complete",
      "A tool_complete steps call_steps",
      "A model_start",
      "A model_complete",
      "A complete",
    ],
    tree: `
invoke_agent A complete
  chat complete
  execute_tool steps complete
    invoke_agent Deep complete
      chat complete
  chat complete
`,
    counts: { otherSpans: 1 },
  },
];

describe("what runs are made of", () => {
  it.each(SCENES)("$name", expectTold);
});
