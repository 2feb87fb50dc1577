import { SpanKind } from "@opentelemetry/api";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { RunIds } from "../../../src/entries/context.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { recordedAndReplayed, type Sent } from "../../support/recorded-and-replayed.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, type SpanNode } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const modelSpan = (ordinal: number) => RunIds.fromUuid(RUN)?.childSpanId("m", String(ordinal));

const COMMON = {
  "gen_ai.operation.name": "chat",
  "gen_ai.agent.name": "react",
  "gen_ai.request.model": "small-1",
  "entelix.run_id": RUN,
  "entelix.tenant_id": "acme",
  "entelix.model.call_id": "m1",
};

/** The one chat span of a run that such events made. */
function chatOf(events: readonly AgentEvent[], options: TelemetryOptions = {}): SpanNode {
  const test = bench(options);
  test.at(0, run.started());
  for (const [n, event] of events.entries()) test.at(n + 1, event);
  test.at(10, run.complete());
  const chats = test.trees().flatMap((tree) => tree.children);
  const [chat] = chats;
  if (chat === undefined || chats.length > 1) throw new Error(JSON.stringify(chats));
  expect(test.reports).toEqual([]);
  return chat;
}

describe("the span of a call for embeddings", () => {
  const vectors = { operation: "embeddings", model: "vector-1" } as const;
  const asked = { ...vectors, parameters: { dimension_count: 3 } };

  it("is `embeddings {model}`, also if only its end has come", () => {
    const usage = { input_tokens: 31 };
    const whole = chatOf([run.modelStart("m1", asked), run.modelComplete("m1", { usage })]);
    const attributes = {
      "gen_ai.operation.name": "embeddings",
      "gen_ai.request.model": "vector-1",
      "gen_ai.embeddings.dimension.count": 3,
      "gen_ai.usage.input_tokens": 31,
      "entelix.model.outcome": "complete",
    };
    expect(whole).toMatchObject({ span: "embeddings vector-1", attributes });
    expect(chatOf([run.modelComplete("m1", { ...asked, usage })])).toMatchObject({
      span: "embeddings vector-1",
      attributes,
    });
    expect(chatOf([run.modelError("m1", vectors)]).span).toBe("embeddings vector-1");
  });

  it("gets the model's name from the end of the call", () => {
    const { model } = vectors;
    const start = run.modelStart("m1", { operation: "embeddings", model: null });
    expect(chatOf([start, run.modelComplete("m1", { model })]).span).toBe("embeddings vector-1");
  });

  it("is a chat if the sender gives another operation", () => {
    const wrong: object = { operation: "rerank" };
    expect(chatOf([run.modelStart("m1", wrong), run.modelComplete("m1")]).span).toBe(
      "chat small-1",
    );
  });
});

describe("the span of a model call", () => {
  it("is `chat {model}` under its run, with all that its events say", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.modelStart("m1", { provider: "openai", input: "secret" }));
    test.at(
      3,
      run.modelComplete("m1", {
        duration_ms: 2000,
        first_output_ms: 350,
        usage: {
          input_tokens: 31,
          output_tokens: 2n ** 64n,
          cache_read_input_tokens: 20n,
          cache_write_input_tokens: 0,
          reasoning_output_tokens: 3,
        },
        response_model: "small-1-2026",
        response_id: "resp_1",
        finish_reasons: ["stop", "length"],
        output: "secret",
      }),
    );
    test.at(4, run.complete());
    expect(test.find("chat small-1")).toMatchObject({
      span_id: modelSpan(1),
      parent: "8000000000000002",
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:03Z",
      status: "unset",
    });
    expect(test.find("chat small-1").attributes).toEqual({
      ...COMMON,
      "gen_ai.provider.name": "openai",
      "gen_ai.response.model": "small-1-2026",
      "gen_ai.response.id": "resp_1",
      "gen_ai.response.finish_reasons": ["stop", "length"],
      "gen_ai.response.time_to_first_chunk": 0.35,
      "gen_ai.usage.input_tokens": 31,
      "gen_ai.usage.output_tokens": 2 ** 63 - 1024,
      "gen_ai.usage.cache_read.input_tokens": 20,
      "gen_ai.usage.cache_write.input_tokens": 0,
      "gen_ai.usage.cache_creation.input_tokens": 0,
      "gen_ai.usage.reasoning.output_tokens": 3,
      "entelix.model.outcome": "complete",
    });
    expect(test.spans().find((span) => span.name === "chat small-1")?.kind).toBe(SpanKind.CLIENT);
  });

  it("has the model's name also where only the end tells it", () => {
    const start = run.modelStart("m1", { model: null });
    const { span, attributes } = chatOf([start, run.modelComplete("m1", { model: "late-1" })]);
    expect([span, attributes["gen_ai.request.model"]]).toEqual(["chat late-1", "late-1"]);
    const nameless = chatOf([start, run.modelComplete("m1", { model: null })]);
    expect(nameless.span).toBe("chat");
    expect(nameless.attributes).not.toHaveProperty("gen_ai.request.model");
    const told = chatOf([run.modelStart("m1"), run.modelComplete("m1", { model: "other" })]);
    expect([told.span, told.attributes["gen_ai.request.model"]]).toEqual([
      "chat small-1",
      "small-1",
    ]);
  });

  it("that failed has status ERROR, the failure kind and the envelope", () => {
    const failed = run.modelError("m1", {
      envelope: {
        wire_code: "rate_limited",
        wire_class: "client",
        retry_after_secs: 5,
        provider_status: 429,
      },
    });
    const chat = chatOf([run.modelStart("m1"), failed]);
    expect(chat).toMatchObject({ status: "error", description: "provider returned 503: busy" });
    expect(chat.attributes).toEqual({
      ...COMMON,
      "entelix.model.outcome": "error",
      "entelix.error.wire_code": "rate_limited",
      "entelix.error.wire_class": "client",
      "entelix.error.retry_after_secs": 5,
      "entelix.error.provider_status": 429,
      "error.type": "model_dispatch",
    });
  });

  it("that failed or paused has what it used, and who answered", () => {
    const used = {
      usage: { input_tokens: 100, output_tokens: 3n },
      cost_usd: "0.002",
      response_model: "small-1-2026",
      response_id: "resp_1",
    };
    const seen = {
      "gen_ai.response.model": "small-1-2026",
      "gen_ai.response.id": "resp_1",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 3,
      "entelix.model.cost": "0.002",
    };
    const failed = chatOf([run.modelStart("m1"), run.modelError("m1", used)]);
    expect(failed).toMatchObject({ status: "error", attributes: seen });
    const envelope = { wire_code: "interrupted", wire_class: "client" } as const;
    const paused = chatOf([run.modelStart("m1"), run.modelError("m1", { ...used, envelope })]);
    expect(paused).toMatchObject({ status: "unset", attributes: seen });
  });

  it("has no part of its tokens that is larger than the whole", () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 5n,
      cache_read_input_tokens: 120,
      cache_write_input_tokens: 100,
      reasoning_output_tokens: 6n,
    };
    const { attributes } = chatOf([run.modelStart("m1"), run.modelComplete("m1", { usage })]);
    expect(attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_write.input_tokens": 100,
    });
    expect(attributes).not.toHaveProperty("gen_ai.usage.cache_read.input_tokens");
    expect(attributes).not.toHaveProperty("gen_ai.usage.reasoning.output_tokens");
  });

  it("of a failure that is none here is Unset", () => {
    const cancelled = run.modelError("m1", {
      kind: { type: "cancelled" },
      error: "operation cancelled",
      envelope: { wire_code: "cancelled", wire_class: "client" },
    });
    const options = { benignFailureKinds: ["cancelled"] as const };
    const chat = chatOf([run.modelStart("m1"), cancelled], options);
    expect(chat).toMatchObject({ status: "unset", description: undefined });
    expect(chat.attributes).toMatchObject({
      "entelix.model.outcome": "error",
      "entelix.error.message": "operation cancelled",
      "entelix.error.wire_code": "cancelled",
    });
    expect(chat.attributes).not.toHaveProperty("error.type");
    const page = chatOf([run.modelStart("m1"), cancelled]);
    expect([page.status, page.attributes["error.type"]]).toEqual(["error", "cancelled"]);
  });

  it("that a pause called off is no failure: Unset, and without error.type", () => {
    const paused = run.modelError("m1", {
      kind: { type: "unclassified" },
      error: "called off: awaiting human review",
      envelope: { wire_code: "interrupted", wire_class: "client" },
    });
    for (const events of [[run.modelStart("m1"), paused], [paused]]) {
      const chat = chatOf(events);
      expect(chat).toMatchObject({ status: "unset", description: undefined });
      expect(chat.attributes).toEqual({
        ...COMMON,
        "entelix.model.outcome": "interrupted",
        "entelix.error.message": "called off: awaiting human review",
      });
    }
    const hidden = chatOf([run.modelStart("m1"), paused], { redact: () => "hidden" });
    expect(hidden.attributes["entelix.error.message"]).toBe("hidden");
  });

  it("that nobody ended is unfinished, with its run", () => {
    const chat = chatOf([run.modelStart("m1")]);
    expect(chat).toMatchObject({ status: "unset", end: "2026-04-29T12:00:10Z" });
    expect(chat.attributes).toEqual({ ...COMMON, "entelix.model.outcome": "unfinished" });
  });

  it("that nobody started reaches from its end back", () => {
    const chat = chatOf([run.modelComplete("m1", { duration_ms: 250 })]);
    expect(chat).toMatchObject({
      start: "2026-04-29T12:00:00.750Z",
      end: "2026-04-29T12:00:01Z",
    });
    expect(chat.attributes).toMatchObject({ ...COMMON, "entelix.model.outcome": "complete" });
  });
});

describe("what a model was asked and answered", () => {
  const events = [
    run.modelStart("m1", { input: [{ role: "user", content: "hi" }] }),
    run.modelComplete("m1", { output: { role: "assistant", content: 9007199254740993n } }),
  ];

  it("is on the span where content is captured, as JSON", () => {
    expect(chatOf(events, { captureContent: true }).attributes).toMatchObject({
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      "gen_ai.output.messages":
        '[{"role":"assistant","parts":[{"type":"text","content":"9007199254740993"}],"finish_reason":"unknown"}]',
    });
  });

  it("is there too where only the end says what was asked", () => {
    const late = [
      run.modelStart("m1"),
      run.modelComplete("m1", { input: [{ role: "user", content: "hi" }], output: "hello" }),
    ];
    expect(chatOf(late, { captureContent: true }).attributes).toMatchObject({
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      "gen_ai.output.messages":
        '[{"role":"assistant","parts":[{"type":"text","content":"hello"}],"finish_reason":"unknown"}]',
    });
    const shown = Object.keys(chatOf(late, { captureContent: false }).attributes);
    expect(shown.filter((name) => name.endsWith(".messages"))).toEqual([]);
  });

  it("goes through the redaction hook, which is told where it is to stand", () => {
    const fields: unknown[] = [];
    const chat = chatOf(events, {
      captureContent: true,
      redact: (_, field) => {
        fields.push(field);
        return "[hidden]";
      },
    });
    expect(chat.attributes).toMatchObject({
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"[hidden]"}]}]',
      "gen_ai.output.messages":
        '[{"role":"assistant","parts":[{"type":"text","content":"[hidden]"}],"finish_reason":"unknown"}]',
    });
    expect(fields.slice(0, 2)).toMatchObject([
      { attribute: "gen_ai.input.messages", tenantId: "acme", runId: RUN },
      { attribute: "gen_ai.output.messages", tenantId: "acme", runId: RUN },
    ]);
  });

  it("is on no span else, and where it is absent or null there is nothing to show", () => {
    const shown = (list: readonly AgentEvent[], captureContent: boolean) =>
      Object.keys(chatOf(list, { captureContent }).attributes).filter((name) =>
        name.endsWith(".messages"),
      );
    expect(shown(events, false)).toEqual([]);
    expect(shown([run.modelStart("m1"), run.modelComplete("m1")], true)).toEqual([]);
    const nulls = [
      run.modelStart("m1", { input: null }),
      run.modelComplete("m1", { output: null }),
    ];
    expect(shown(nulls, true)).toEqual([]);
  });
});

describe("model events around the spans", () => {
  it("leave no audit row", async () => {
    const log = new MemorySessionLog();
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ mode: "replay", tracerProvider: provider, audit: log });
    const events = [run.started(), run.modelStart("m1"), run.modelError("m1"), run.complete()];
    for (const [n, event] of events.entries()) await bridge.send(event, { timestamp: second(n) });
    await bridge.shutdown();
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
    expect(rows.map((row) => row.event.kind)).toEqual(["entelix.run_started", "entelix.run_ended"]);
    expect(spans().map((span) => span.name)).toEqual(["chat small-1", "invoke_agent react"]);
    expect(spans().at(-1)?.attributes["entelix.audit.ordinal"]).toBe(2);
  });

  it("pass quietly in a run that is not sampled", () => {
    const test = bench(
      { mode: "live", limits: { markerAfterMs: 0 } },
      { sampler: new AlwaysOffSampler() },
    );
    test.sink.send(run.started());
    test.sink.send(run.modelStart("m1"));
    test.sink.send(run.modelComplete("m1"));
    test.at(3, run.modelError("m2"));
    test.sink.send(run.complete());
    expect(test.diagnostics()).toMatchObject({ events: 5, spansOpened: 1, openRuns: 0 });
    expect([...test.started.keys()]).toEqual([]);
  });

  it.each([
    { model_call_id: undefined },
    { model_call_id: 7, model: {}, provider: [], duration_ms: "long" },
    { usage: "many", finish_reasons: "stop", first_output_ms: {}, response_id: 5 },
    { usage: { input_tokens: -1, output_tokens: Number.NaN }, finish_reasons: [1, {}] },
    { error: undefined, envelope: undefined, kind: undefined },
    { error: 7, envelope: null, kind: "cancelled" },
  ])("with fields that are none (%o) still make one span, and throw nothing", (changes) => {
    for (const end of [run.modelComplete("m1"), run.modelError("m1")]) {
      const test = bench({ captureContent: true });
      test.at(0, run.started());
      for (const event of [run.modelStart("m1"), end]) {
        // Programs without types send anything.
        Reflect.apply(test.sink.send, test.sink, [
          { ...event, ...changes },
          { timestamp: second(1) },
        ]);
      }
      test.at(2, run.complete());
      expect(test.spans()).toHaveLength(2);
      expect([...test.ended.values()]).toEqual([1, 1]);
      expect(test.reports).toEqual([]);
      const values = Object.values(test.spans()[0]?.attributes ?? {});
      expect(values.every((value) => Array.isArray(value) || typeof value !== "object")).toBe(true);
      expect(values.every((value) => value !== 0)).toBe(true);
    }
  });
});

describe("a recording of model events", () => {
  it.each([true, false])("replays to the identical spans (content %s)", async (content) => {
    const usage = { input_tokens: 9007199254740993n, output_tokens: 4 };
    const events: Sent[] = [
      [run.started()],
      [run.modelStart("a", { provider: "openai", input: [1, "x"] })],
      [run.modelStart("b", { model: null })],
      [run.modelComplete("b", { model: "late-1", usage, output: { text: "y" } })],
      [run.modelStart("c")],
      [run.modelError("a", { duration_ms: 3.5 })],
      [run.modelComplete("a")],
      [run.complete()],
    ];
    const { names, tape } = await recordedAndReplayed(events, { captureContent: content });
    expect(names).toEqual(["chat late-1", "chat small-1", "chat small-1", "invoke_agent react"]);
    expect(tape.includes("output")).toBe(true);
    expect(tape.includes('"y"')).toBe(content);
  });
});
