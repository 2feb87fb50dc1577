import { run, tool, withCustomSpan } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { add, agent, streamed } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

/** A tool without arguments. */
const plain = (name: string, execute: () => Promise<string>) =>
  tool({ name, description: name, parameters: z.object({}), execute });
const inner = () => agent("inner", [[says("found")]]);
const outer = (execute: () => Promise<string>) =>
  agent("outer", [[asks("work", {}, "w1")], [says("done")]], { tools: [plain("work", execute)] });

describe("the place of a run", () => {
  it("is below the tool call whose code starts it, through custom spans between them", async () => {
    const heard = listen();
    const deep = async () => {
      const data = { name: "deep" };
      return String((await withCustomSpan(() => run(inner(), "x"), { data })).finalOutput);
    };
    await run(
      outer(() => withCustomSpan(deep, { data: { name: "near" } })),
      "hi",
    );
    expect(await heard.tree()).toBe(`invoke_agent outer complete
  chat complete
  execute_tool work complete
    invoke_agent inner complete
      chat complete
  chat complete
`);
    expect(heard.processor.counts).toMatchObject({ otherSpans: 2, faults: 0 });
    const starts = heard.told.filter(({ event }) => event.type === "started");
    expect(starts.map(({ envelope }) => envelope.details)).toEqual([undefined, undefined]);
  });

  it("is below the tool call, if the tool is an agent that streams", async () => {
    const heard = listen();
    const seen: string[] = [];
    const helper = inner().asTool({
      toolName: "helper",
      toolDescription: "helps",
      onStream: ({ event }) => void seen.push(event.type),
    });
    const steps = [[asks("helper", { input: "q" })], [says("done")]];
    await run(agent("outer", steps, { tools: [helper] }), "hi");
    expect(seen.length).toBeGreaterThan(0);
    expect(await heard.tree()).toBe(`invoke_agent outer complete
  chat complete
  execute_tool helper complete
    invoke_agent inner complete
      chat complete
  chat complete
`);
  });

  it("is below the agent, if the tool call that started it has ended", async () => {
    const heard = listen();
    let started = () => {};
    const answered = new Promise<void>((resolve) => {
      started = resolve;
    });
    let background: Promise<unknown> = Promise.resolve();
    const a = outer(async () => {
      background = answered.then(() => run(inner(), "later"));
      return "started";
    });
    await run(a, "hi");
    started();
    await background;
    expect(await heard.tree()).toBe(`invoke_agent outer complete
  chat complete
  execute_tool work complete
  chat complete
  invoke_agent inner complete
    chat complete
`);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });
});

describe("two streams at once", () => {
  it("have their own calls and usage, also if one is left", async () => {
    const heard = listen();
    const steps = () => [
      [asks("add", { a: 1 }, "c1"), asks("add", { a: 1 }, "c2"), asks("add", { a: 2 }, "c3")],
      [says("done")],
    ];
    const left = async () => {
      const result = await run(agent("left", [[says("long")]]), "hi", { stream: true });
      for await (const event of result) if (event.type === "raw_model_stream_event") break;
      await result.completed;
    };
    await Promise.all([streamed(agent("read", steps(), { tools: [add] }), "hi"), left()]);
    const tree = await heard.tree();
    const [first = "", second = ""] = tree
      .split(/(?=^invoke_agent)/m)
      .sort()
      .reverse();
    expect(first).toBe(`invoke_agent read complete
  chat complete
  execute_tool add complete
  execute_tool add complete
  execute_tool add complete
  chat complete
`);
    expect(second).toBe("invoke_agent left failed cancelled\n  chat error\n");
    const root = heard.spans().find(({ name }) => name === "invoke_agent read");
    expect(root?.attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 20,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 6,
    });
  });
});
