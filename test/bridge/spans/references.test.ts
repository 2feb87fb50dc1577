import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { createIdGenerator } from "../../../src/bridge/spans/id-generator.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { RunEvents, second } from "../../support/run-events.ts";

// What the sink still holds after a full collection, seen through weak references.

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** How many are alive; it collects until there are as few as `wanted`, or it is clear they stay. */
async function alive(references: readonly WeakRef<object>[], wanted = 0): Promise<number> {
  for (let n = 0; ; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    const count = references.filter((reference) => reference.deref() !== undefined).length;
    if (count <= wanted || n === 40) return count;
  }
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

/** A sink whose spans are kept by nobody but the sink. */
function bare(options: TelemetryOptions = {}) {
  const spans: WeakRef<object>[] = [];
  const tracerProvider = new BasicTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [
      {
        onStart: (span) => void spans.push(new WeakRef(span)),
        onEnd: () => {},
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const sink = new Bridge({ mode: "live", tracerProvider, onError: () => {}, ...options });
  return { sink, spans, tracer: tracerProvider.getTracer("http") };
}

const id = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;

describe("a sink holds", () => {
  it.each(["complete", "failed", "interrupted"] as const)(
    "no span of a run after its end (%s), nor of its calls",
    async (terminal) => {
      const { sink, spans } = bare();
      for (let n = 0; n < 10; n++) {
        const run = new RunEvents(id(n));
        void sink.send(run.started(), { thread_id: "th-1" });
        void sink.send(run.toolStart("call_1"));
        void sink.send(run.toolStart("call_2"));
        void sink.send(run.toolComplete("call_1"));
        void sink.send(run[terminal]());
      }
      expect(spans).toHaveLength(30);
      expect(await alive(spans)).toBe(0);
      await sink.shutdown();
    },
  );

  it("no span of a run that was given up", async () => {
    const { sink, spans } = bare({ limits: { openRuns: 1 } });
    for (let n = 0; n < 10; n++) void sink.send(new RunEvents(id(n)).started());
    expect(await alive(spans, 1)).toBe(1);
    await sink.shutdown();
    expect(await alive(spans)).toBe(0);
  });

  it("no span that was active when a run started, though it is the run's parent", async () => {
    const { sink, spans, tracer } = bare({ rootParent: "ambient" });
    const run = new RunEvents(id(1));
    const startInside = () => {
      const request = tracer.startSpan("POST /chat");
      context.with(trace.setSpan(ROOT_CONTEXT, request), () => sink.send(run.started()));
      request.end();
    };
    startInside();
    expect(spans).toHaveLength(2);
    expect(await alive(spans, 1)).toBe(1);
    void sink.send(run.interrupted());
    expect(await alive(spans)).toBe(0);
    await sink.shutdown();
  });

  it("no payload, from the moment that its event was taken", async () => {
    const { sink } = bare({ captureContent: true });
    const payloads: WeakRef<object>[] = [];
    const payload = () => {
      const value = { secret: "s".repeat(100) };
      payloads.push(new WeakRef(value));
      return value;
    };
    const send = () => {
      const run = new RunEvents(id(1));
      void sink.send(run.started());
      void sink.send(run.toolStart("call_1", "fetch", payload()));
      void sink.send(run.toolStart("call_2", "fetch", payload()));
      void sink.send(run.toolComplete("call_1", "fetch", 1, payload()));
      void sink.send(run.interrupted({ payload: payload() }));
      const other = new RunEvents(id(2));
      void sink.send(other.started(), { timestamp: second(1) });
      void sink.send(other.complete({ state: payload() }));
    };
    send();
    expect(payloads).toHaveLength(5);
    expect(await alive(payloads)).toBe(0);
    await sink.shutdown();
  });

  it("no event and no envelope", async () => {
    const { sink } = bare();
    const things: WeakRef<object>[] = [];
    const send = () => {
      const run = new RunEvents(id(1));
      for (const event of [run.started(), run.toolStart("call_1"), run.approved("call_2")]) {
        const envelope = { timestamp: second(1), thread_id: "th-1" };
        things.push(new WeakRef(event), new WeakRef(envelope));
        void sink.send(event, envelope);
      }
    };
    send();
    expect(await alive(things)).toBe(0);
    await sink.shutdown();
  });
});
