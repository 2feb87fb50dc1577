import { type RunContext, run, tool, withCustomSpan, withTrace } from "@openai/agents-core";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { currentRunContext } from "../../../src/entries/context.ts";
import { agent, pay } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

/** A processor, and code that makes a span in the active context, as an instrumentation does. */
function scene() {
  const heard = listen();
  const tracer = heard.provider.getTracer("test");
  const made = (name: string) => tracer.startSpan(name).end();
  const asked = (name: string) => async () => {
    await Promise.resolve();
    made(name);
    return [says("done")];
  };
  const look = (execute: (input: unknown, run?: RunContext) => Promise<string>) =>
    tool({ name: "look", description: "looks", parameters: z.object({}), execute });
  return { heard, tracer, made, asked, look };
}

it("is that of the call whose code runs, without a call of withSpan", async () => {
  const { asked, heard, look, made } = scene();
  const callers: unknown[] = [];
  const seen = async () => {
    await Promise.resolve();
    made("GET /tool");
    callers.push(currentRunContext()?.parent_tool_use_id);
    return "seen";
  };
  const first = async () => {
    made("POST /model");
    return [asks("look", {}, "l1"), asks("look", { again: true }, "l2")];
  };
  await run(agent("A", [first, asked("POST /again")], { tools: [look(seen)] }), "hi");
  const stream = await run(agent("B", [asked("POST /stream")]), "hi", { stream: true });
  await stream.completed;
  made("GET /outside");
  expect(callers).toEqual(["l1", "l2"]);
  expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
    POST /model 
  execute_tool look complete
    GET /tool 
  execute_tool look complete
    GET /tool 
  chat complete
    POST /again 
invoke_agent B complete
  chat complete
    POST /stream 
GET /outside 
`);
});

it("keeps spans of the application between a call and what its code starts", async () => {
  const { asked, heard, look, made, tracer } = scene();
  const inner = agent("Inner", [asked("POST /inner")]);
  const seen = () =>
    tracer.startActiveSpan("own", async (own) => {
      await withCustomSpan(async () => made("GET /custom"), { data: { name: "c", data: {} } });
      await run(inner, "hi");
      own.end();
      return "seen";
    });
  const steps = [[asks("look")], [says("done")]];
  await run(agent("A", steps, { tools: [look(seen)] }), "hi");
  expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool look complete
    own 
      GET /custom 
    invoke_agent Inner complete
      chat complete
        POST /inner 
  chat complete
`);
});

it("is the call's for code that the call leaves behind", async () => {
  const { heard, look, made } = scene();
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let late: Promise<void> | undefined;
  const leaves = async () => {
    late = gate.then(() => made("GET /late"));
    return "seen";
  };
  const steps = [[asks("look")], [says("done")]];
  await run(agent("A", steps, { tools: [look(leaves)] }), "hi");
  await heard.processor.forceFlush();
  open();
  await late;
  expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool look complete
    GET /late 
  chat complete
`);
});

it("is the agent's for its instructions and guardrails, and none between agents", async () => {
  const { heard, made } = scene();
  const execute = async () => {
    made("GET /guardrail");
    return { tripwireTriggered: false, outputInfo: {} };
  };
  const instructions = async () => {
    made("GET /instructions");
    return "be kind";
  };
  const inputGuardrails = [{ name: "polite", execute }];
  await withTrace("Support", async () => {
    made("GET /before");
    await run(agent("A", [[says("done")]], { instructions, inputGuardrails }), "hi");
  });
  const trees = (await heard.tree()).split("\n");
  expect(trees).toContain("GET /before ");
  expect(trees.filter((line) => /guardrail|instructions/.test(line)).sort()).toEqual([
    "    GET /guardrail ",
    "    GET /instructions ",
  ]);
});

it("does not start a call that is refused", async () => {
  const { heard } = scene();
  const steps = [[asks("pay", { n: 1 })], [says("ok")]];
  const careful = agent("A", steps, { tools: [pay] });
  const { state, interruptions } = await run(careful, "hi");
  for (const item of interruptions ?? []) state.reject(item);
  await run(careful, state);
  const events = await heard.events();
  expect(events.filter((line) => line.includes("tool_"))).toEqual([
    expect.stringContaining("tool_call_denied"),
  ]);
});

it("leaves the active span alone if the processor's sink has no spans", async () => {
  const { made, tracer, heard } = scene();
  const { processor } = listen({ sink: { send() {} } });
  const asked = async () => {
    made("POST /model");
    return [says("done")];
  };
  await tracer.startActiveSpan("own", async (own) => {
    await run(agent("A", [asked]), "hi");
    expect(trace.getActiveSpan()).toBe(own);
    own.end();
  });
  await processor.forceFlush();
  expect(await heard.tree()).toBe("own \n  POST /model \n");
});
