import { run, tool, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { add, agent, pay, streamed } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const goesTo = (name: string) => asks(`transfer_to_${name}`);

/** Every run with the agent that handed control to it. */
async function runsOf(heard: ReturnType<typeof listen>) {
  await heard.processor.forceFlush();
  return heard.told.flatMap(({ event, envelope }) =>
    event.type === "started" ? [[event.agent, envelope.details?.handoff_from]] : [],
  );
}

/** Triage, which hands over to Billing. */
const triage = () =>
  agent("Triage", [[goesTo("Billing")]], { handoffs: [agent("Billing", [[says("done")]])] });

describe("an agent that control was handed to", () => {
  it.each([
    ["at once", () => run(triage(), "hi")],
    ["while streaming", () => streamed(triage(), "hi")],
  ])("names who did that, %s", async (_, work) => {
    const heard = listen();
    await work();
    expect(await runsOf(heard)).toEqual([
      ["Triage", undefined],
      ["Billing", "Triage"],
    ]);
    const from = heard
      .spans()
      .flatMap(({ attributes, name }) =>
        name.startsWith("invoke_agent") ? [[name, attributes["entelix.handoff.from"]]] : [],
      );
    expect(from.sort()).toEqual([
      ["invoke_agent Billing", "Triage"],
      ["invoke_agent Triage", undefined],
    ]);
  });

  it("names it when control comes back", async () => {
    const heard = listen();
    const first = agent("A", [[goesTo("B")], [says("done")]]);
    const second = agent("B", [[goesTo("A")]], { handoffs: [first] });
    first.handoffs = [second];
    await run(first, "hi");
    expect(await runsOf(heard)).toEqual([
      ["A", undefined],
      ["B", "A"],
      ["A", "B"],
    ]);
  });

  it("names the agent of its own tool call where several hand over at the same time", async () => {
    const heard = listen();
    const ask = (name: string) =>
      tool({
        name,
        description: "asks",
        parameters: z.object({}),
        execute: async () => {
          const expert = agent("Expert", [[says("done")]]);
          await run(agent(`Helper ${name}`, [[goesTo("Expert")]], { handoffs: [expert] }), "q");
          return "asked";
        },
      });
    const steps = [[asks("one"), asks("two")], [says("done")]];
    await run(agent("A", steps, { tools: [ask("one"), ask("two")] }), "hi");
    const places = new Map(
      heard.told.flatMap(({ event, envelope }) =>
        event.type === "started" && event.agent !== "A"
          ? [[`${envelope.parent_tool_use_id} ${event.agent}`, envelope.details?.handoff_from]]
          : [],
      ),
    );
    expect(Object.fromEntries(places)).toEqual({
      "call_one Helper one": undefined,
      "call_one Expert": "Helper one",
      "call_two Helper two": undefined,
      "call_two Expert": "Helper two",
    });
  });

  it("names it again when it goes on after a pause", async () => {
    const heard = listen();
    const payer = agent("Payer", [[asks("pay", { n: 1 }, "p1")], [says("paid")]], { tools: [pay] });
    const first = agent("Triage", [[goesTo("Payer")]], { handoffs: [payer] });
    const paused = await run(first, "hi");
    for (const waiting of paused.interruptions) paused.state.approve(waiting);
    await run(first, paused.state);
    expect(await runsOf(heard)).toEqual([
      ["Triage", undefined],
      ["Payer", "Triage"],
      ["Triage", undefined],
      ["Payer", "Triage"],
    ]);
  });
});

it("names nobody for a tool's agent, for a second run of the same agent, or in another trace", async () => {
  const heard = listen();
  const helper = agent("Billing", [[says("helped")]]).asTool({
    toolName: "helper",
    toolDescription: "helps",
  });
  const steps = [[asks("helper", { input: "q" })], [asks("add", { a: 1 })], [says("done")]];
  await run(agent("A", steps, { tools: [helper, add] }), "hi");
  await withTrace("Support", async () => {
    await run(triage(), "hi");
    await run(agent("Billing", [[says("again")]]), "hi");
  });
  await run(agent("Billing", [[says("alone")]]), "hi");
  expect(await runsOf(heard)).toEqual([
    ["A", undefined],
    ["Billing", undefined],
    ["Support", undefined],
    ["Triage", undefined],
    ["Billing", "Triage"],
    ["Billing", undefined],
    ["Billing", undefined],
  ]);
});
