import { run, tool, withFunctionSpan, withGenerationSpan } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { add, agent, boom, pay, rejected } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

/** A tool with code of the test's own. */
const does = (name: string, execute: () => Promise<unknown>, more: object = {}) =>
  tool({ name, description: "…", parameters: z.object({}), execute, ...more });

const runsOf = async (heard: ReturnType<typeof listen>) =>
  (await heard.tree()).split("\n").filter((line) => line.includes("invoke_agent"));

describe("a model that code of a tool asks", () => {
  const summary = async () =>
    withGenerationSpan(async (span) => {
      span.spanData.output = [{ choices: [{ message: { content: "short" } }] }];
      return "short";
    });
  const away = async () => {
    await rejected(
      withGenerationSpan(async () => {
        throw new Error("503 away");
      }),
    );
    return "no summary";
  };

  it("that fails is no failure of the agent that the tool has answered", async () => {
    const heard = listen();
    const behaviour = { tools: [does("sum", away)], toolUseBehavior: "stop_on_first_tool" };
    const result = await run(agent("A", [[asks("sum")]], behaviour), "hi");
    expect(result.finalOutput).toBe("no summary");
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool sum complete
    chat error
`);
  });

  it("does not answer the agent, whose other call goes on waiting for approval", async () => {
    const heard = listen();
    const steps = [[asks("pay", { n: 1 }, "p1"), asks("sum")], [says("done")]];
    const a = agent("A", steps, { tools: [pay, does("sum", summary)] });
    const { interruptions, state } = await run(a, "hi");
    for (const waiting of interruptions) state.approve(waiting);
    await run(a, state);
    const lines = await heard.events();
    expect(lines).toContain("A interrupted approval_pending p1");
    expect(lines).toContain("A tool_call_approved pay p1");
  });
});

describe("an agent that code of a tool runs", () => {
  const payer = () =>
    agent("Inner", [[asks("pay", { n: 1 }, "p1")], [says("paid")]], { tools: [pay] });

  it("and does not wait for is no reason for the call to", async () => {
    const heard = listen();
    const inner = agent("Inner", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] });
    let going: Promise<unknown> | undefined;
    const kick = does("kick", async () => {
      going = run(inner, "go");
      return "started";
    });
    await run(agent("A", [[asks("kick")], [says("bye")]], { tools: [kick] }), "hi");
    await going;
    expect(await heard.events()).toContain("A tool_complete kick call_kick");
    expect(await runsOf(heard)).toEqual([
      "invoke_agent A complete",
      "    invoke_agent Inner complete",
    ]);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("is left waiting where the tool answers in its place, each time anew", async () => {
    const heard = listen();
    const ask = does("ask", async () => {
      const { interruptions } = await run(payer(), "go");
      return interruptions.length > 0 ? "somebody has to decide" : "paid";
    });
    const steps = [[asks("ask", {}, "k1")], [asks("ask", {}, "k2")], [says("later")]];
    await run(agent("A", steps, { tools: [ask] }), "hi");
    const lines = await heard.events();
    expect(lines.filter((line) => /^\w+ interrupted/.test(line))).toEqual([
      "Inner interrupted approval_pending p1",
      "Inner interrupted approval_pending p1",
    ]);
    expect(lines.at(-1)).toBe("A complete");
    expect(await runsOf(heard)).toEqual([
      "invoke_agent A complete",
      "    invoke_agent Inner interrupted",
      "    invoke_agent Inner interrupted",
    ]);
    const resumed = heard.told.filter(({ envelope }) => envelope.resumed_from_run_id !== undefined);
    expect(resumed).toEqual([]);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("is left waiting, with the agent below it, where the tool's answer ends the run", async () => {
    const heard = listen();
    const tools = [payer().asTool({ toolName: "inner", toolDescription: "pays" })];
    const middle = agent("Middle", [[asks("inner", { input: "1" })]], { tools });
    const ask = does("ask", async () => {
      await run(middle, "go");
      return "somebody has to decide";
    });
    const behaviour = { tools: [ask], toolUseBehavior: "stop_on_first_tool" };
    await run(agent("A", [[asks("ask")]], behaviour), "hi");
    expect(await runsOf(heard)).toEqual([
      "invoke_agent A complete",
      "    invoke_agent Middle interrupted",
      "        invoke_agent Inner interrupted",
    ]);
    for (const { event } of heard.told) {
      if (event.type !== "interrupted") continue;
      expect(event.payload).toEqual([{ tool_use_id: "p1", tool: "pay" }]);
    }
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
  });

  it("goes on where it stands when somebody has decided after all", async () => {
    const heard = listen();
    const inner = payer();
    const held: (() => Promise<unknown>)[] = [];
    const ask = does("ask", async () => {
      const { interruptions, state } = await run(inner, "go");
      for (const waiting of interruptions) state.approve(waiting);
      held.push(() => run(inner, state));
      return "later";
    });
    await run(agent("A", [[asks("ask")], [says("later")]], { tools: [ask] }), "hi");
    await heard.events();
    for (const goOn of held) await goOn();
    expect((await heard.events()).slice(-7)).toEqual([
      "Inner started below A",
      "Inner tool_call_approved pay p1",
      "Inner tool_start pay p1",
      "Inner tool_complete pay p1",
      "Inner model_start",
      "Inner model_complete",
      "Inner complete",
    ]);
    const started = heard.told.filter(({ event }) => event.type === "started");
    const [, before, after] = started;
    expect(after?.envelope).toMatchObject({
      resumed_from_run_id: before?.event.run_id,
      parent_tool_use_id: "call_ask",
    });
    expect(heard.processor.counts).toMatchObject({ strayEnds: 0, faults: 0 });
  });
});

describe("a call that code of a tool makes", () => {
  const called = (name: string, work: () => Promise<unknown>) =>
    withFunctionSpan(async () => work(), { data: { name, input: "{}", output: "done" } });

  it("stands below the call, and is not one of the agent", async () => {
    const heard = listen();
    const inner = () => called("look", async () => called("search", async () => "found"));
    const look = does("look", async () => "seen");
    const steps = [[asks("sum", {}, "s1"), asks("look", {}, "l1")], [says("done")]];
    await run(agent("A", steps, { tools: [does("sum", inner), look] }), "hi");
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool sum complete
    execute_tool look complete
      execute_tool search complete
  execute_tool look complete
  chat complete
`);
    const [root] = heard.spans().filter(({ name }) => name === "invoke_agent A");
    expect(root?.attributes["entelix.usage.tool_calls"]).toBe(2);
    const starts = (await heard.events()).filter((line) => line.includes("tool_start look"));
    expect(starts).toHaveLength(2);
    expect(starts).toContain("A tool_start look l1");
  });

  it("that fails is no failure of the agent, whose other tool ended the run", async () => {
    const heard = listen();
    const fails = () =>
      rejected(
        called("look", async () => {
          throw new RangeError("no index");
        }),
      ).then(() => "nothing");
    const steps = [[asks("sum"), asks("boom")], [says("done")]];
    await rejected(run(agent("A", steps, { tools: [does("sum", fails), boom(false)] }), "hi"));
    const lines = await heard.events();
    expect(lines.at(-1)).toBe(
      "A failed tool_error_terminal: Failed to run function tools: RangeError: out of order",
    );
    expect(lines).toContain("A tool_error look internal: no index");
  });
});
