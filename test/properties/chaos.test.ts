import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  SamplingDecision,
} from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge, type LifecycleLimits } from "../../src/index.ts";
import { runs } from "../support/runs.ts";
import { chaos, type Sent } from "./chaos.ts";
import { isRunSpan, mostOpenCalls, sharedTraces, watchSpans } from "./watch.ts";

const limits = fc.record({
  openRuns: fc.integer({ min: 1, max: 6 }),
  openCalls: fc.integer({ min: 1, max: 3 }),
  callIds: fc.integer({ min: 1, max: 3 }),
  totalCallIds: fc.integer({ min: 1, max: 9 }),
  eventIds: fc.integer({ min: 1, max: 100 }),
  maxAgeMs: fc.constantFrom(1, 30_000, 86_400_000),
});
const mode = fc.constantFrom("live", "replay");

interface Played {
  readonly watch: ReturnType<typeof watchSpans>;
  readonly reports: string[];
  readonly sink: Bridge;
}

async function play(
  stream: readonly Sent[],
  options: { mode: "live" | "replay"; limits: Partial<LifecycleLimits> },
  provider: Parameters<typeof watchSpans>[0] = {},
  each?: (played: Played) => void,
): Promise<Played> {
  const watch = watchSpans(provider);
  const reports: string[] = [];
  const sink = new Bridge({
    tracerProvider: watch.provider,
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    captureContent: true,
    ...options,
    limits: { markerAfterMs: 0, ...options.limits },
  });
  const played = { watch, reports, sink };
  for (const { event, envelope } of stream) {
    void sink.send(event, envelope);
    each?.(played);
  }
  await sink.shutdown();
  return played;
}

const RUNS = { numRuns: runs(300) };

describe("whatever is sent", () => {
  it("nothing throws, each started span ends once before shutdown returns, state is bounded", async () => {
    await fc.assert(
      fc.asyncProperty(
        chaos(),
        mode,
        limits,
        fc.integer({ min: 1, max: 3 }),
        async (stream, mode, some, closedRuns) => {
          const all = { ...some, closedRuns };
          const { watch, reports, sink } = await play(
            stream,
            { mode, limits: all },
            { sampler: new AlwaysOnSampler() },
            (played) => {
              expect(played.sink.diagnostics().openRuns).toBeLessThanOrEqual(all.openRuns);
              const { open } = played.watch;
              expect(mostOpenCalls(open, "execute_tool")).toBeLessThanOrEqual(all.openCalls);
              expect(mostOpenCalls(open, "step")).toBeLessThanOrEqual(all.openCalls);
              expect(mostOpenCalls(open, "chat")).toBeLessThanOrEqual(all.openCalls);
              const openRunSpans = [...played.watch.open].filter(isRunSpan);
              expect(openRunSpans).toHaveLength(played.sink.diagnostics().openRuns);
            },
          );
          expect([...watch.open]).toEqual([]);
          expect(watch.endedTwice).toEqual([]);
          expect(reports).toEqual([]);
          const { events, spansOpened, openRuns } = sink.diagnostics();
          expect({ events, spansOpened, openRuns }).toEqual({
            events: stream.length,
            spansOpened: watch.ended.length,
            openRuns: 0,
          });
        },
      ),
      RUNS,
    );
  });

  it("no trace holds spans of two tenants, as long as its runs are remembered", async () => {
    await fc.assert(
      fc.asyncProperty(
        chaos(),
        mode,
        limits,
        fc.boolean(),
        async (stream, mode, some, foreignIds) => {
          const { watch } = await play(stream, { mode, limits: some }, { foreignIds });
          expect(sharedTraces(watch.ended)).toEqual([]);
        },
      ),
      RUNS,
    );
  });

  it("no span is its own ancestor, and a call is under a run of its own", async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), mode, async (stream, mode) => {
        const { watch } = await play(stream, { mode, limits: {} });
        const byId = new Map(
          watch.ended.map((span) => [
            `${span.spanContext().traceId}/${span.spanContext().spanId}`,
            span,
          ]),
        );
        for (const span of watch.ended) {
          const parent = byId.get(
            `${span.spanContext().traceId}/${span.parentSpanContext?.spanId}`,
          );
          if (!isRunSpan(span)) {
            expect(parent?.attributes["entelix.run_id"]).toBe(span.attributes["entelix.run_id"]);
          }
          let above = parent;
          for (let level = 0; above !== undefined; level++) {
            expect(level).toBeLessThan(watch.ended.length);
            above = byId.get(`${above.spanContext().traceId}/${above.parentSpanContext?.spanId}`);
          }
        }
      }),
      RUNS,
    );
  });

  it("no two spans have the same ids, as long as calls and runs are remembered", async () => {
    await fc.assert(
      fc.asyncProperty(
        chaos(),
        mode,
        fc.integer({ min: 1, max: 6 }),
        async (stream, mode, openRuns) => {
          const { watch } = await play(stream, { mode, limits: { openRuns } });
          const ids = watch.ended.map(
            (span) => `${span.spanContext().traceId}/${span.spanContext().spanId}`,
          );
          expect(ids.length - new Set(ids).size).toBe(0);
        },
      ),
      RUNS,
    );
  });

  it("no span ends before it starts, and every end is one that a sampler may have refused", async () => {
    const decisions = fc.infiniteStream(
      fc.constantFrom(
        SamplingDecision.NOT_RECORD,
        SamplingDecision.RECORD,
        SamplingDecision.RECORD_AND_SAMPLED,
      ),
    );
    await fc.assert(
      fc.asyncProperty(chaos(), mode, limits, decisions, async (stream, mode, some, answers) => {
        const sampler: Sampler = {
          shouldSample: () => ({ decision: answers.next().value ?? SamplingDecision.RECORD }),
        };
        const { watch, reports, sink } = await play(stream, { mode, limits: some }, { sampler });
        expect([...watch.open]).toEqual([]);
        expect(watch.endedTwice).toEqual([]);
        expect(reports).toEqual([]);
        expect(sink.diagnostics().openRuns).toBe(0);
        for (const span of watch.ended) {
          const [s, n] = span.startTime;
          const [es, en] = span.endTime;
          expect(es > s || (es === s && en >= n)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("nothing is made of a stream that is not sampled", async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), mode, async (stream, mode) => {
        const { watch, sink } = await play(
          stream,
          { mode, limits: {} },
          { sampler: new AlwaysOffSampler() },
        );
        expect(watch.ended).toEqual([]);
        expect(sink.diagnostics()).toMatchObject({ events: stream.length, openRuns: 0 });
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("a stream of pauses", () => {
  it("has no ERROR status, no error.type and no failure kind", async () => {
    await fc.assert(
      fc.asyncProperty(
        chaos({ interruptedOnly: true }),
        mode,
        limits,
        async (stream, mode, some) => {
          const { watch } = await play(stream, { mode, limits: some });
          for (const span of watch.ended) {
            expect(span.status).toEqual({ code: 0 });
            expect(Object.keys(span.attributes)).not.toContain("error.type");
            expect(Object.keys(span.attributes)).not.toContain("entelix.failure.kind");
          }
        },
      ),
      RUNS,
    );
  });
});
