import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunIds } from "../../src/entries/context.ts";
import type { AgentEvent } from "../../src/index.ts";
import { bench, RunEvents } from "../support/run-events.ts";
import { runs } from "../support/runs.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const ids = RunIds.fromUuid(RUN);
const run = new RunEvents(RUN);

/** A model call as it was: it lasts from its second to its end. */
interface Asked {
  readonly from: number;
  readonly lasts: number;
  readonly fails: boolean;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  from: fc.integer({ min: 1, max: 40 }),
  lasts: fc.integer({ min: 0, max: 20 }),
  fails: fc.boolean(),
});

interface Timed {
  readonly time: number;
  readonly event: AgentEvent;
}

const startOf = (call: Asked, n: number): Timed => ({
  time: call.from,
  event: run.modelStart(`m${n}`),
});

function endOf(call: Asked, n: number): Timed {
  const more = { duration_ms: call.lasts * 1000 };
  const event = call.fails ? run.modelError(`m${n}`, more) : run.modelComplete(`m${n}`, more);
  return { time: call.from + call.lasts, event };
}

describe("model calls that overlap", () => {
  it("become one span each, with the times and the outcome of their own", () => {
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 12 }), (calls) => {
        const test = bench();
        test.at(0, run.started());
        const events = calls.flatMap((call, n) => [startOf(call, n), endOf(call, n)]);
        // Stable, so that a call that takes no time starts before it ends.
        for (const { time, event } of events.toSorted((a, b) => a.time - b.time)) {
          test.at(time, event);
        }
        test.at(100, run.complete());
        const inOrder = calls
          .map((call, n) => ({ ...call, id: `m${n}` }))
          .toSorted((a, b) => a.from - b.from);
        const [root] = test.trees();
        const found = root?.children.map((span) => ({
          id: span.attributes["entelix.model.call_id"],
          span: span.span_id,
          outcome: span.attributes["entelix.model.outcome"],
          took: Date.parse(span.end) - Date.parse(span.start),
        }));
        const drawn = inOrder.map((call, n) => ({
          id: call.id,
          span: ids?.childSpanId("m", String(n + 1)),
          outcome: call.fails ? "error" : "complete",
          took: call.lasts * 1000,
        }));
        const byId = (a: { span: unknown }, b: { span: unknown }) =>
          String(a.span) < String(b.span) ? -1 : 1;
        expect(found?.sort(byId)).toEqual(drawn.sort(byId));
        expect(Object.values(test.diagnostics().ignored).every((count) => count === 0)).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });

  it("in any order, doubled and lost, are one span each, ended once, and nothing throws", () => {
    const damaged = fc.array(asked, { minLength: 1, maxLength: 10 }).chain((calls) => {
      const events = calls.flatMap((call, n) => [startOf(call, n), endOf(call, n)]);
      const kept = fc.subarray(
        [...events, ...events].map((_, at) => at),
        { minLength: 1 },
      );
      return kept
        .chain((some) => fc.shuffledSubarray(some, { minLength: some.length }))
        .map((order) => ({
          stream: order.map((at) => events[at % events.length]).filter((one) => one !== undefined),
          told: new Set(order.map((at) => Math.floor((at % events.length) / 2))).size,
        }));
    });
    fc.assert(
      fc.property(damaged, ({ stream, told }) => {
        const test = bench();
        for (const { time, event } of stream) test.at(time, event);
        test.at(100, run.complete());
        const models = test.spans().filter((span) => span.name === "chat small-1");
        expect(models).toHaveLength(told);
        expect(new Set(models.map((span) => span.spanContext().spanId)).size).toBe(told);
        expect([...test.ended.values()].every((times) => times === 1)).toBe(true);
        expect([...test.ended.keys()].sort()).toEqual([...test.started.keys()].sort());
        expect(test.reports).toEqual([]);
        const { adjustments, events, ignored } = test.diagnostics();
        expect(ignored.duplicate + told).toBeLessThanOrEqual(events);
        expect(adjustments.unseen_starts).toBe(1);
      }),
      { numRuns: runs(300) },
    );
  });
});
