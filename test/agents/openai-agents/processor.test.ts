import {
  addTraceProcessor,
  createFunctionSpan,
  getGlobalTraceProvider,
  Runner,
  run,
  setTraceProcessors,
  type TracingProcessor,
  withAgentSpan,
  withTrace,
} from "@openai/agents-core";
import { describe, expect, expectTypeOf, it } from "vitest";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { add, agent, boom, rejected } from "./scenes.ts";
import { asks, ScriptedModel, says, TOKENS } from "./scripted-model.ts";
import { listen } from "./told.ts";

const simple = (name = "A") =>
  agent(name, [[asks("add", { a: 1 })], [says("done")]], { tools: [add] });

const adds = (api: "responses" | "chat") => ({
  model: new ScriptedModel([[asks("add", { a: 1 })], [says("done")]], api),
  tools: [add],
});

describe("the processor", () => {
  it("is one of the SDK's", () => {
    expectTypeOf<OpenAIAgentsProcessor>().toExtend<TracingProcessor>();
  });

  it.each([
    ["sink", { sink: undefined, tenant: "acme" }, /^sink: expected/],
    ["tenant", { tenant: "" }, /^tenant: expected/],
    ["maxTraces", { maxTraces: 0 }, /^maxTraces: expected a whole number from 1, got 0/],
    ["flushTimeoutMs", { flushTimeoutMs: -1 }, /^flushTimeoutMs: expected/],
  ])("names a wrong %s", (_, options, message) => {
    const given = { sink: { send() {} }, tenant: "acme", ...options };
    expect(() => Reflect.construct(OpenAIAgentsProcessor, [given])).toThrow(message);
  });

  it("gives the trace the id that the SDK gives it, and the group as thread", async () => {
    const heard = listen();
    const traceId = `trace_${"0af7651916cd43dd8448eb211c80319c"}`;
    await new Runner({ traceId, groupId: "chat-7" }).run(simple(), "hi");
    await heard.processor.forceFlush();
    for (const span of heard.spans()) {
      expect(span.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
    }
    const threads = heard.told.map(({ envelope }) => envelope.thread_id);
    expect(new Set(threads)).toEqual(new Set(["chat-7"]));
  });

  it("takes a result for a failure where the predicate says so", async () => {
    const heard = listen({
      isFailure: (result, call) => call.tool === "add" && result === "2" && "validation",
    });
    await run(agent("A", [[asks("add", { a: 1 })], [says("done")]], { tools: [add] }), "hi");
    const events = await heard.events();
    expect(events).toContain("A tool_error add validation: the result of add says that it failed");
    expect(events.at(-1)).toBe("A complete");
    const errors = heard.told.flatMap(({ event }) => (event.type === "tool_error" ? [event] : []));
    expect(errors).toMatchObject([
      { error_for_llm: "2", envelope: { wire_code: "tool_result_error", origin: "tool" } },
    ]);
  });

  it.each(["responses", "chat"] as const)("counts usage once (%s)", async (api) => {
    const heard = listen();
    const helper = agent("Helper", [[says("helped")]]);
    const tools = [helper.asTool({ toolName: "helper", toolDescription: "helps" })];
    const steps = [[asks("helper", { input: "q" })], [says("done")]];
    await run(agent("A", steps, { tools, model: new ScriptedModel(steps, api) }), "hi");
    await heard.processor.forceFlush();
    const chats = heard.spans().filter(({ name }) => name.startsWith("chat"));
    expect(chats.map(({ attributes }) => attributes["gen_ai.usage.input_tokens"])).toEqual([
      TOKENS.input,
      TOKENS.input,
      TOKENS.input,
    ]);
    expect(chats[0]?.attributes).toMatchObject({
      "gen_ai.usage.cache_read.input_tokens": TOKENS.cached,
      "gen_ai.usage.reasoning.output_tokens": TOKENS.reasoning,
      "gen_ai.response.model": "small-1-2026",
    });
    const runs = heard.told.filter(({ event }) => event.type === "complete");
    expect(runs.map(({ event }) => (event.type === "complete" ? event.usage : undefined))).toEqual([
      null,
      {
        requests: 3,
        input_tokens: 3 * TOKENS.input,
        output_tokens: 3 * TOKENS.output,
        tool_calls: 1,
        cache_read_input_tokens: 3 * TOKENS.cached,
      },
    ]);
  });

  it("shows content only where it is captured", async () => {
    const captured = async (captureContent: boolean) => {
      const heard = listen({ captureContent });
      await run(agent("A", [], adds("chat")), "a secret");
      await heard.processor.forceFlush();
      return heard
        .spans()
        .flatMap(({ attributes }) =>
          Object.entries(attributes).filter(([name]) => /messages|arguments|result/.test(name)),
        );
    };
    expect(await captured(false)).toEqual([]);
    const shown = Object.fromEntries(await captured(true));
    expect(shown["gen_ai.tool.call.arguments"]).toContain('"a":1');
    expect(shown["gen_ai.tool.call.result"]).toBe("2");
    expect(shown["gen_ai.input.messages"]).toContain("user");
  });

  it("tells what a Responses model was asked, which the SDK says only at the end", async () => {
    for (const captureContent of [true, false]) {
      const heard = listen({ captureContent });
      const model = new ScriptedModel([[says("done")]]);
      await new Runner().run(agent("A", [], { model }), "hi");
      const tree = await heard.tree();
      expect(tree).toContain("chat");
      const told = heard.told.flatMap(({ event }) =>
        event.type === "model_start" || event.type === "model_complete" ? [event.input] : [],
      );
      const asked = { role: "user", parts: [{ type: "text", content: "hi" }] };
      expect(told).toEqual([undefined, [asked]]);
      const shown = heard
        .spans()
        .flatMap(({ attributes }) => attributes["gen_ai.input.messages"] ?? []);
      // Of the call, and of the run.
      expect(shown).toHaveLength(captureContent ? 2 : 0);
    }
  });

  it("works without the data that the SDK calls sensitive", async () => {
    const heard = listen({ captureContent: true });
    const model = new ScriptedModel(
      [[asks("add", { a: 1 }), asks("boom")], [says("done")]],
      "chat",
    );
    const a = agent("A", [], { model, tools: [add, boom(true)] });
    await new Runner({ traceIncludeSensitiveData: false }).run(a, "hi");
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat small-1 complete
  execute_tool add complete
  execute_tool boom error internal
  chat small-1 complete
`);
    const contents = heard.told.flatMap(({ event }) =>
      event.type === "tool_start" || event.type === "model_start" ? [event.input] : [],
    );
    expect(contents).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("keeps two tenants at once apart", async () => {
    const heard = listen({ tenant: "nobody" });
    const tenants = ["acme", "globex"];
    const runs = tenants.map((tenant_id) =>
      new Runner({ traceMetadata: { tenant_id }, groupId: tenant_id }).run(simple(tenant_id), "hi"),
    );
    await Promise.all(runs);
    await heard.processor.forceFlush();
    expect(new Set(heard.told.map(({ event }) => event.tenant_id))).toEqual(new Set(tenants));
    const agents = heard.told.flatMap(({ event, envelope }) =>
      event.type === "started" ? [[event.tenant_id, event.agent, envelope.thread_id]] : [],
    );
    expect(agents).toEqual(tenants.map((tenant) => [tenant, tenant, tenant]));
    for (const tenant of tenants) {
      const own = heard.spans().filter((s) => s.attributes["entelix.tenant_id"] === tenant);
      expect(own).toHaveLength(4);
      expect(new Set(own.map((span) => span.spanContext().traceId)).size).toBe(1);
    }
  });

  it("follows no trace whose tenant is not known, and no span of another tenant", async () => {
    const heard = listen({ tenant: ({ name }) => (name === "known" ? "acme" : "") });
    await withTrace("unknown", () => run(simple(), "hi"));
    expect(heard.told).toEqual([]);
    expect(heard.processor.counts).toMatchObject({ untenanted: 1, unfollowedSpans: 4 });
    await withTrace("known", () => run(simple(), "hi"));
    expect(heard.told).toHaveLength(10);
    const traceId = "trace_shared";
    const one = new Runner({ traceId, traceMetadata: { tenant_id: "acme" } });
    const other = new Runner({ traceId, traceMetadata: { tenant_id: "globex" } });
    await Promise.all([one.run(simple("Ours"), "hi"), other.run(simple("Theirs"), "hi")]);
    const agents = heard.told.flatMap(({ event }) =>
      event.type === "started" ? [event.agent] : [],
    );
    expect(agents).toEqual(["known", "A", "Ours"]);
  });

  it("sends nothing of two tenants' traces of one ID at the same time, if spans do not name theirs", async () => {
    const heard = listen({ tenant: ({ name }) => name });
    const traceId = "trace_shared";
    const both = async () => {
      await run(simple("Ours"), "hi");
      await withTrace("globex", () => run(simple("Theirs"), "secret"), { traceId });
    };
    await withTrace("acme", both, { traceId });
    expect(new Set(heard.told.map(({ event }) => event.tenant_id))).toEqual(new Set(["acme"]));
    const [failed] = heard.told.filter(({ event }) => event.type === "failed");
    expect(failed?.event).toMatchObject({
      error: "another tenant used the ID of this trace at the same time",
      envelope: { wire_code: "invalid_request" },
    });
    expect(JSON.stringify(heard.told)).not.toMatch(/Theirs|secret/);
    expect(heard.processor.counts).toMatchObject({ untenanted: 1, faults: 0 });
    await withTrace("globex", () => run(simple(), "hi"), { traceId });
    expect(heard.told.at(-1)?.event).toMatchObject({ type: "complete", tenant_id: "globex" });
  });

  it("waits for the sink, but not for ever", async () => {
    let taken = 0;
    const sink = {
      send: () => new Promise<void>((resolve) => setImmediate(resolve)).then(() => void taken++),
    };
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    listen();
    setTraceProcessors([processor]);
    await run(simple(), "hi");
    await processor.shutdown();
    expect(taken).toBe(8);
    const stuck = new OpenAIAgentsProcessor({
      sink: { send: () => new Promise<void>(() => {}) },
      tenant: "acme",
      flushTimeoutMs: 5,
    });
    setTraceProcessors([stuck]);
    await run(simple(), "hi");
    await stuck.forceFlush();
    await stuck.shutdown(1);
  });

  it("makes no second span when it is told twice, or when there are two of it", async () => {
    const heard = listen();
    addTraceProcessor(heard.processor);
    addTraceProcessor(new OpenAIAgentsProcessor({ sink: heard.sink, tenant: "acme" }));
    await run(simple(), "hi");
    await rejected(run(agent("B", [new Error("500 no")]), "hi"));
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool add complete
  chat complete
invoke_agent B failed model_dispatch
  chat error
`);
    const [usage] = heard.told.flatMap(({ event }) => (event.type === "complete" ? [event] : []));
    expect(usage?.usage?.requests).toBe(2);
  });

  it("tells of spans whose end another processor holds up", async () => {
    const held: (() => void)[] = [];
    const slow: TracingProcessor = {
      onTraceStart: async () => {},
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: () => new Promise((resolve) => held.push(() => resolve())),
      shutdown: async () => {},
      forceFlush: async () => {},
    };
    const heard = listen();
    setTraceProcessors([slow, heard.processor]);
    await run(simple(), "hi");
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool add complete
  chat complete
`);
    for (const release of held) release();
    await heard.processor.forceFlush();
    expect(heard.spans()).toHaveLength(4);
    expect(heard.processor.counts.strayEnds).toBe(4);
  });

  it("takes spans that were recorded elsewhere, with their own times", async () => {
    const heard = listen();
    const provider = getGlobalTraceProvider();
    const trace = provider.createTrace({ traceId: "trace_recorded", name: "Agent workflow" });
    const times = { startedAt: "2026-01-02T03:04:05.000Z", endedAt: "2026-01-02T03:04:06.500Z" };
    const span = provider.createSpan({ data: { type: "agent", name: "Old" }, ...times }, trace);
    await provider.dispatchSpan(span);
    expect(await heard.tree()).toBe("invoke_agent Old complete\n");
    const [old] = heard.spans();
    expect(old?.startTime).toEqual([Date.parse(times.startedAt) / 1000, 0]);
    expect(old?.endTime).toEqual([Date.parse("2026-01-02T03:04:06Z") / 1000, 500_000_000]);
  });

  it("takes spans that users make", async () => {
    const heard = listen();
    await withTrace("Mine", async () => {
      const lookup = createFunctionSpan({ data: { name: "lookup", input: "7" } });
      lookup.start();
      lookup.end();
      await rejected(
        withAgentSpan(
          async () => {
            throw new TypeError("no");
          },
          { data: { name: "Own" } },
        ),
      );
    });
    expect(await heard.tree()).toBe(`invoke_workflow Mine failed unclassified
  execute_tool lookup complete
  invoke_agent Own failed unclassified
`);
  });

  it.each<[string, string, unknown]>([
    ["an object, as the tool gets it", '{ "amount": 900 }', { amount: 900 }],
    ["an object with all digits", '{"account":9007199254740993}', { account: 9007199254740993n }],
    ["a text that is no object", "7", "7"],
    ["a text that is no JSON", "{name} of the city", "{name} of the city"],
    ["nothing", "", undefined],
  ])("sends the input of a tool: %s", async (_, input, sent) => {
    const heard = listen();
    await withTrace("Mine", async () => {
      const lookup = createFunctionSpan({ data: { name: "lookup", input } });
      lookup.start();
      lookup.end();
    });
    await heard.processor.forceFlush();
    const inputs = heard.told.flatMap(({ event }) =>
      event.type === "tool_start" ? [event.input] : [],
    );
    expect(inputs).toEqual([sent]);
  });

  it("contains what throws when the input of a call is read, after its start", async () => {
    const errors: string[] = [];
    const onError = (error: unknown) => void errors.push(String(error));
    const processor = new OpenAIAgentsProcessor({ sink: { send() {} }, tenant: "acme", onError });
    const traceId = "trace_hostile";
    const times = { error: null, startedAt: "2026-01-02T03:04:05.000Z", endedAt: null };
    const spanData = Object.defineProperty({ type: "function", name: "look" }, "input", {
      get() {
        throw new Error("no input");
      },
    });
    await processor.onTraceStart({ traceId, name: "w" });
    const run = { type: "agent", name: "A" };
    await processor.onSpanStart({ ...times, traceId, spanId: "s1", parentId: null, spanData: run });
    await processor.onSpanStart({ ...times, traceId, spanId: "s2", parentId: "s1", spanData });
    await processor.forceFlush();
    expect(errors).toEqual(["Error: no input"]);
  });

  it("counts ends without a start, and traces that it forgot", async () => {
    const heard = listen({ maxTraces: 1 });
    const provider = getGlobalTraceProvider();
    const traces = ["trace_1", "trace_2"].map((traceId) => provider.createTrace({ traceId }));
    const spans = traces.map((trace) =>
      provider.createSpan({ data: { type: "agent", name: "A" } }, trace),
    );
    for (const span of spans) span.start();
    for (const span of spans) span.end();
    await heard.processor.forceFlush();
    expect(heard.processor.counts).toMatchObject({ forgottenTraces: 1, strayEnds: 1 });
  });

  it("gives a trace id that is used again a run of its own", async () => {
    const heard = listen();
    const runner = new Runner({ traceId: "trace_again" });
    await runner.run(simple("First"), "hi");
    await runner.run(simple("Second"), "hi");
    const runs = heard.told.flatMap(({ event }) =>
      event.type === "started" ? [event.run_id] : [],
    );
    expect(new Set(runs).size).toBe(2);
    expect((await heard.tree()).match(/invoke_agent \w+ complete/g)).toEqual([
      "invoke_agent First complete",
      "invoke_agent Second complete",
    ]);
  });

  it("gives a named trace whose id is used again a run of its own, and its first agent another", async () => {
    const heard = listen();
    for (const name of ["First", "Second"]) {
      const workflow = () => run(simple("A"), "hi");
      await withTrace(`Flow ${name}`, workflow, { traceId: "trace_again" });
    }
    const runs = heard.told.flatMap(({ event }) =>
      event.type === "started" ? [event.run_id] : [],
    );
    expect(new Set(runs).size).toBe(4);
    const shown = (await heard.tree()).split("\n").filter((line) => line.includes("invoke_"));
    expect(shown.map((line) => line.replace(/ complete.*/, ""))).toEqual([
      "invoke_workflow Flow First",
      "  invoke_agent A",
      "invoke_workflow Flow Second",
      "  invoke_agent A",
    ]);
  });
});
