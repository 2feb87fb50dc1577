import { NodeTracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reasonOfFailure, SpanLedger } from "../../../src/bridge/setup/span-ledger.ts";
import { CountedBatchProcessor } from "../../../src/bridge/setup/span-processors.ts";
import { runs } from "../../support/runs.ts";

const SETTINGS = {
  maxQueueSize: 8,
  maxExportBatchSize: 3,
  scheduledDelayMillis: 1,
  exportTimeoutMillis: 1_000,
};

type Behaviour = "confirm" | "fail" | "throw" | "confirm later" | "fail later" | "answer twice";

/** An exporter that behaves as it is told, request by request, and keeps what it confirmed. */
function exporterOf(behaviours: readonly Behaviour[]) {
  const confirmed: string[] = [];
  let request = 0;
  const exporter: SpanExporter = {
    export(spans, done) {
      const confirm = () => {
        confirmed.push(...spans.map((span) => span.name));
        done({ code: 0 });
      };
      const fail = () => done({ code: 1, error: new Error("no") });
      const behaviour = behaviours[request++ % behaviours.length] ?? "confirm";
      switch (behaviour) {
        case "confirm":
          return confirm();
        case "fail":
          return fail();
        case "throw":
          throw new Error("broken");
        case "confirm later":
          setTimeout(confirm, 1);
          return;
        case "fail later":
          setTimeout(fail, 1);
          return;
        case "answer twice":
          confirm();
          return fail();
        default:
          behaviour satisfies never;
      }
    },
    shutdown: async () => {},
  };
  return { exporter, confirmed };
}

const behaviour = fc.constantFrom<Behaviour>(
  "confirm",
  "fail",
  "throw",
  "confirm later",
  "fail later",
  "answer twice",
);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ end: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.constantFrom<"flush" | "wait">("flush", "wait") },
);

describe("CountedBatchProcessor", () => {
  it("accounts for every span, whatever the exporter does and in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(behaviour, { minLength: 1, maxLength: 6 }),
        fc.array(step, { maxLength: 12 }),
        async (behaviours, steps) => {
          const { exporter, confirmed } = exporterOf(behaviours);
          const ledger = new SpanLedger();
          const processor = new CountedBatchProcessor(exporter, SETTINGS, ledger);
          const provider = new NodeTracerProvider({ spanProcessors: [processor] });
          const tracer = provider.getTracer("app");
          let ended = 0;
          for (const one of steps) {
            if (one === "flush") await processor.forceFlush().catch(() => {});
            else if (one === "wait") await new Promise((resolve) => setTimeout(resolve, 2));
            else for (let i = 0; i < one.end; i++) tracer.startSpan(`s${ended++}`).end();
            expect(ledger.queued).toBeLessThanOrEqual(SETTINGS.maxQueueSize);
          }
          await processor.shutdown();
          const counts = ledger.counts();
          expect(counts.ended).toBe(ended);
          expect(counts.pending).toBe(0);
          expect(ledger.queued).toBe(0);
          expect(counts.exported).toBe(confirmed.length);
          expect(counts.exported + counts.failed + counts.dropped).toBe(ended);
          expect(counts.lost.queue_full).toBe(counts.dropped);
          expect(new Set(confirmed).size).toBe(confirmed.length);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("drops where the SDK's own queue is full, and nowhere else", async () => {
    const { exporter, confirmed } = exporterOf(["confirm later"]);
    const ledger = new SpanLedger();
    const processor = new CountedBatchProcessor(exporter, SETTINGS, ledger);
    const tracer = new NodeTracerProvider({ spanProcessors: [processor] }).getTracer("app");
    for (let i = 0; i < 20; i++) tracer.startSpan(`s${i}`).end();
    await processor.shutdown();
    // Three left with the first batch, eight waited.
    expect(confirmed).toEqual(Array.from({ length: 11 }, (_, i) => `s${i}`));
    expect(ledger.counts().lost.queue_full).toBe(9);
  });

  it("waits in forceFlush for a request that the timer has started", async () => {
    let answer = () => {};
    const exporter: SpanExporter = {
      export: (_, done) => {
        answer = () => done({ code: 0 });
      },
      shutdown: async () => {},
    };
    const ledger = new SpanLedger();
    const processor = new CountedBatchProcessor(exporter, SETTINGS, ledger);
    const tracer = new NodeTracerProvider({ spanProcessors: [processor] }).getTracer("app");
    for (let i = 0; i < 3; i++) tracer.startSpan("a").end();
    let flushed = false;
    const flush = processor.forceFlush().then(() => {
      flushed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([flushed, ledger.counts().pending]).toEqual([false, 3]);
    answer();
    await flush;
    expect(ledger.counts().exported).toBe(3);
  });

  it("shuts the exporter also when a request has failed", async () => {
    let shut = 0;
    const exporter: SpanExporter = {
      export: (_, done) => done({ code: 1 }),
      shutdown: async () => {
        shut++;
      },
    };
    const ledger = new SpanLedger();
    const processor = new CountedBatchProcessor(exporter, SETTINGS, ledger);
    new NodeTracerProvider({ spanProcessors: [processor] }).getTracer("app").startSpan("a").end();
    await Promise.all([processor.shutdown(), processor.shutdown()]);
    expect(shut).toBe(1);
    expect(ledger.counts()).toMatchObject({ failed: 1, lost: { export_failed: 1 } });
  });
});

describe("reasonOfFailure", () => {
  const withCode = (code: unknown, message = "") => Object.assign(new Error(message), { code });
  it.each([
    [undefined, "export_failed"],
    [new Error("what"), "export_failed"],
    [new Error("Concurrent export limit reached"), "too_many_exports"],
    [new Error("Request timed out"), "timeout"],
    [withCode("ETIMEDOUT"), "timeout"],
    [new Error("Export failed with retryable status"), "rejected"],
    [withCode(413, "Payload Too Large"), "rejected"],
    [withCode("ECONNREFUSED"), "unreachable"],
    [withCode("ENOTFOUND"), "unreachable"],
    [withCode("CERT_HAS_EXPIRED"), "export_failed"],
  ])("%s is %s", (error, reason) => {
    expect(reasonOfFailure(error)).toBe(reason);
  });
});
