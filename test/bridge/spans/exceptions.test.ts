import { Writable } from "node:stream";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import { type AgentEvent, setUnclassifiedWarning } from "../../../src/index.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";

setUnclassifiedWarning(() => {});

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const BROKEN = {
  type: "DbError",
  message: "no table orders",
  stacktrace: "DbError: no table orders\n    at query (db.ts:1:1)",
};
const OF_BROKEN = {
  "exception.type": "DbError",
  "exception.message": BROKEN.message,
  "exception.stacktrace": BROKEN.stacktrace,
};

/** The `exception` events of the span of a name. */
function exceptionsOf(spans: readonly ReadableSpan[], name: string) {
  const found = spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return (found[0]?.events ?? []).map(({ attributes, name: event, time }) => ({
    event,
    time,
    attributes: { ...attributes },
  }));
}

/** A run whose tool, model, step and then itself fail with the exception. */
function failing(options: Parameters<typeof bench>[0] = {}, exception: unknown = BROKEN) {
  const test = bench(options);
  const details = { exception } as { exception: typeof BROKEN };
  const events: readonly AgentEvent[] = [
    run.stepStart("s1"),
    run.toolStart("c1"),
    run.toolError("c1"),
    run.modelStart("m1"),
    run.modelError("m1"),
    run.stepError("s1"),
    run.failed(),
  ];
  test.at(0, run.started());
  for (const [n, event] of events.entries()) test.at(n + 1, event, { details });
  expect(test.reports).toEqual([]);
  return test;
}

describe("the exception event of a failed span", () => {
  it.each([
    ["execute_tool fetch", 3],
    ["chat small-1", 5],
    ["step route", 6],
    ["invoke_agent react", 7],
  ])("stands on %s when it ends", (name, at) => {
    const { spans } = failing();
    expect(exceptionsOf(spans(), name)).toEqual([
      { event: "exception", time: second(at), attributes: OF_BROKEN },
    ]);
  });

  it("is there with class and text alone, where no more is known", () => {
    const { spans } = failing({}, { type: "DbError", message: "no" });
    expect(exceptionsOf(spans(), "invoke_agent react")[0]?.attributes).toEqual({
      "exception.type": "DbError",
      "exception.message": "no",
    });
  });

  it("can be turned off", () => {
    const { spans } = failing({ exceptions: false });
    for (const span of spans()) expect(span.events).toEqual([]);
    expect(spans()).toHaveLength(4);
    const bad: object = { exceptions: "false" };
    expect(() => new Bridge(bad)).toThrow("exceptions: expected true or false, got string");
  });

  it.each([null, "boom", {}, { type: "" }, { type: 1, message: "no" }])(
    "is not made of %j",
    (exception) => {
      const { spans } = failing({}, exception);
      for (const span of spans()) expect(span.events).toEqual([]);
      expect(spans()).toHaveLength(4);
    },
  );

  it("is not on a span whose status is Unset", () => {
    const test = bench({ benignFailureKinds: ["model_dispatch"] });
    const details = { exception: BROKEN };
    test.at(0, run.started());
    test.at(1, run.toolStart("c1"), { details });
    test.at(2, run.toolCancelled("c1"), { details });
    test.at(3, run.toolInterrupted("c2"), { details });
    test.at(4, run.modelError("m1"), { details });
    test.at(5, run.failed(), { details });
    expect(test.spans()).toHaveLength(4);
    for (const span of test.spans()) expect([span.name, span.events]).toEqual([span.name, []]);
  });

  it("shows what the redaction hook makes of text and stack", () => {
    const fields: string[] = [];
    const { spans } = failing({
      redact: (value, { attribute, tool }) => {
        fields.push(`${attribute} ${tool}`);
        return String(value).replaceAll("orders", "***");
      },
    });
    expect(exceptionsOf(spans(), "execute_tool fetch")[0]?.attributes).toEqual({
      "exception.type": "DbError",
      "exception.message": "no table ***",
      "exception.stacktrace": BROKEN.stacktrace.replace("orders", "***"),
    });
    expect(fields).toContain("exception.message fetch");
    expect(fields).toContain("exception.stacktrace fetch");
  });

  it("is cut between characters", () => {
    const long = "é".repeat(10_000);
    const { spans } = failing({}, { type: long, message: long, stacktrace: long });
    const attributes = exceptionsOf(spans(), "invoke_agent react")[0]?.attributes;
    expect(attributes).toEqual({
      "exception.type": "é".repeat(128),
      "exception.message": "é".repeat(512),
      "exception.stacktrace": "é".repeat(4_096),
    });
    const small = failing({ maxStackBytes: 3, maxStatusBytes: 5 }, BROKEN);
    expect(exceptionsOf(small.spans(), "invoke_agent react")[0]?.attributes).toEqual({
      "exception.type": "DbError",
      "exception.message": "no ta",
      "exception.stacktrace": "DbE",
    });
  });
});

describe("an error in a program's own loop", () => {
  class DbError extends Error {}

  function live() {
    const collected = collectSpans();
    let text = "";
    const stream = new Writable({
      write(chunk, _, done) {
        text += String(chunk);
        done();
      },
    });
    const bridge = new Bridge({ tracerProvider: collected.provider, captureContent: false });
    const recorder = new RecorderSink({ stream, source: bridge });
    return {
      ...collected,
      recorder,
      recording: () => text,
      sink: new FanOutSink([bridge, recorder]),
    };
  }

  async function replayed(recording: string) {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ mode: "replay", tracerProvider: provider, captureContent: false });
    await readEvents(
      (async function* () {
        yield Buffer.from(recording);
      })(),
      {
        dialects: [entelixDialect],
        onEvent: ({ event, envelope }) => bridge.send(event, envelope),
        onIssue: (issue) => {
          throw new Error(JSON.stringify(issue));
        },
      },
    );
    return spans();
  }

  it("is on each span that it passed, and a replay makes the identical spans", async () => {
    const { recorder, recording, sink, spans } = live();
    const error = new DbError("no table orders");
    const failed = runAgent(
      {
        sink,
        agent: "support",
        tenant: "acme",
        user: "u-17",
        session: "s-4",
        tags: ["beta"],
        metadata: { plan: "pro" },
      },
      async (it) => {
        await it.model("small-1", () => Promise.reject(new TypeError("busy"))).catch(() => {});
        await it.tool("check", () => ({ isError: true, content: [] }));
        return it.tool("db", () => {
          throw error;
        });
      },
    );
    await expect(failed).rejects.toBe(error);
    await recorder.forceFlush();
    for (const name of ["execute_tool db", "invoke_agent support"]) {
      expect(exceptionsOf(spans(), name).map(({ attributes }) => attributes)).toEqual([
        {
          "exception.type": "DbError",
          "exception.message": "no table orders",
          "exception.stacktrace": error.stack?.slice(0, 8_192),
        },
      ]);
    }
    expect(exceptionsOf(spans(), "chat small-1")[0]?.attributes).toMatchObject({
      "exception.type": "TypeError",
      "exception.message": "busy",
    });
    expect(exceptionsOf(spans(), "execute_tool check")[0]?.attributes).toEqual({
      "exception.type": "tool_result_error",
      "exception.message": "the result of check says that it failed",
    });
    const root = spans().find(({ name }) => name === "invoke_agent support");
    expect(root?.attributes).toMatchObject({
      "user.id": "u-17",
      "session.id": "s-4",
      "entelix.run.tags": ["beta"],
      "entelix.run.metadata.plan": "pro",
    });
    const again = await replayed(recording());
    expect(again.map(fingerprint).sort()).toEqual(spans().map(fingerprint).sort());
  });

  it("is no event where the run was cancelled, or pauses", async () => {
    const { sink, spans } = live();
    const stop = new AbortController();
    const cancelled = runAgent(
      { sink, agent: "support", tenant: "acme", signal: stop.signal },
      (it) => it.tool("slow", () => new Promise(() => stop.abort())),
    );
    await expect(cancelled).rejects.toThrow();
    expect(spans()).toHaveLength(2);
    for (const span of spans()) expect(span.events).toEqual([]);
  });
});
