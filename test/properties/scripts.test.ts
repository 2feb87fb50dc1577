import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRfc3339 } from "../../src/events/door.ts";
import { Bridge, type LifecycleLimits } from "../../src/index.ts";
import { runs } from "../support/runs.ts";
import { fingerprint } from "../support/spans.ts";
import type { Sent } from "./chaos.ts";
import { type DrawnSpan, interleave, Player, type Script, script } from "./scripts.ts";
import { isRunSpan, sharedTraces, watchSpans } from "./watch.ts";

async function play(
  stream: readonly Sent[],
  mode: "live" | "replay" = "replay",
  limits: Partial<LifecycleLimits> = {},
) {
  const watch = watchSpans();
  const reports: string[] = [];
  const sink = new Bridge({
    tracerProvider: watch.provider,
    mode,
    limits: { markerAfterMs: 0, ...limits },
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
  });
  const { openRuns = Number.POSITIVE_INFINITY } = limits;
  for (const { event, envelope } of stream) {
    void sink.send(event, envelope);
    expect(sink.diagnostics().openRuns).toBeLessThanOrEqual(openRuns);
  }
  await sink.shutdown();
  expect(reports).toEqual([]);
  expect([...watch.open]).toEqual([]);
  expect(watch.endedTwice).toEqual([]);
  return { spans: watch.ended, diagnostics: sink.diagnostics() };
}

const TENANTS = ["acme", "globex", "acme"];

/** Agents of two tenants, at once. */
const agents = (calm = false) =>
  fc.record({
    plans: fc.array(script(3, calm), { minLength: 1, maxLength: TENANTS.length }),
    picks: fc.infiniteStream(fc.nat(11)),
  });

function playersOf(plans: readonly Script[]): Player[] {
  return plans.map((plan, n) => {
    const player = new Player(TENANTS[n] ?? "acme", n);
    player.play(plan);
    return player;
  });
}

function streamOf(plans: readonly Script[], picks: Iterator<number>): Sent[] {
  return interleave(
    playersOf(plans).map((player) => player.sent),
    picks,
  );
}

const byName = (a: DrawnSpan, b: DrawnSpan) =>
  `${a.trace}${a.span}` < `${b.trace}${b.span}` ? -1 : 1;

const RUNS = { numRuns: runs(150) };

describe("what agents really do", () => {
  it("gives the spans that follow from the script, one for one", async () => {
    // A call without an end takes the next end of its id: those scripts have no one answer.
    const clear = (plan: Script): boolean =>
      plan.steps.every(
        (step) =>
          step.type === "deny" ||
          (step.end !== "never" && (step.child === undefined || clear(step.child))),
      ) &&
      (plan.more === undefined || clear(plan.more));
    await fc.assert(
      fc.asyncProperty(agents(), async ({ plans, picks }) => {
        fc.pre(plans.every(clear));
        const players = playersOf(plans);
        const { spans, diagnostics } = await play(
          interleave(
            players.map((player) => player.sent),
            picks,
          ),
        );
        const seen = spans.map((span): DrawnSpan => {
          const outcome = isRunSpan(span) ? "entelix.run.outcome" : "entelix.tool.outcome";
          return {
            name: span.name,
            trace: span.spanContext().traceId,
            span: span.spanContext().spanId,
            parent: span.parentSpanContext?.spanId,
            start: formatRfc3339([span.startTime[0], span.startTime[1]]),
            end: formatRfc3339([span.endTime[0], span.endTime[1]]),
            outcome: span.attributes[outcome],
            error: span.attributes["error.type"],
          };
        });
        const drawn = players.flatMap((player) => player.drawn);
        expect(seen.sort(byName)).toEqual(drawn.sort(byName));
        for (const span of spans) {
          expect(span.status.code).toBe(span.attributes["error.type"] === undefined ? 0 : 2);
        }
        expect(Object.values(diagnostics.ignored).every((count) => count === 0)).toBe(true);
        expect(Object.values(diagnostics.adjustments).every((count) => count === 0)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});

function withoutId({ event, envelope }: Sent): Sent {
  const { event_id: _, ...rest } = envelope;
  return { event, envelope: rest };
}

const smallLimits = fc.record(
  {
    openRuns: fc.integer({ min: 1, max: 4 }),
    openCalls: fc.integer({ min: 1, max: 2 }),
    callIds: fc.integer({ min: 1, max: 3 }),
    totalCallIds: fc.integer({ min: 1, max: 9 }),
    maxAgeMs: fc.constantFrom(250, 2000),
  },
  { requiredKeys: [] },
);

/** How a stream is spoilt on its way. */
interface Damage {
  readonly lose: readonly boolean[];
  readonly moves: readonly number[];
  readonly keep: number;
  readonly unknown: readonly number[];
}

const damage: fc.Arbitrary<Damage> = fc.record({
  lose: fc.array(
    fc.nat(9).map((n) => n === 0),
    { minLength: 200, maxLength: 200 },
  ),
  moves: fc.array(
    fc.nat(40).map((n) => (n < 4 ? n : 0)),
    { minLength: 200, maxLength: 200 },
  ),
  keep: fc.nat(200),
  unknown: fc.array(fc.nat(100), { maxLength: 3 }),
});

function spoil(stream: readonly Sent[], { lose, moves, keep, unknown }: Damage): Sent[] {
  const left = stream.filter((_, n) => lose[n] !== true).slice(0, keep);
  // Each event comes up to three places late.
  const order = left.map((sent, n) => ({ sent, at: n + (moves[n] ?? 0) * 1.5 }));
  const moved = order.sort((a, b) => a.at - b.at).map(({ sent }) => sent);
  for (const at of unknown) {
    const model = moved[at];
    if (model === undefined) continue;
    const event = Object.assign({ ...model.event }, { type: "brand_new" });
    moved.splice(at, 0, { event, envelope: { ...model.envelope, event_id: `unknown-${at}` } });
  }
  return moved;
}

describe("a stream that is lossy, out of order, cut off, with unknown types", () => {
  it("still ends each span once, keeps tenants apart, and has its root runs in their traces", async () => {
    await fc.assert(
      fc.asyncProperty(
        agents(),
        damage,
        fc.constantFrom("live", "replay"),
        smallLimits,
        fc.boolean(),
        async (all, harm, mode, limits, identified) => {
          const spoilt = spoil(streamOf(all.plans, all.picks), harm);
          const stream = identified ? spoilt : spoilt.map(withoutId);
          // Redelivered from the middle on.
          const again = stream.slice(stream.length / 2);
          const { spans } = await play([...stream, ...again], mode, limits);
          expect(sharedTraces(spans)).toEqual([]);
          for (const span of spans) {
            if (!isRunSpan(span) || span.parentSpanContext !== undefined) continue;
            const runId = String(span.attributes["entelix.run_id"]);
            expect(span.spanContext().traceId).toBe(runId.replaceAll("-", ""));
          }
        },
      ),
      RUNS,
    );
  });

  it("of pauses alone has no ERROR, no error.type and no failure kind", async () => {
    await fc.assert(
      fc.asyncProperty(agents(true), damage, async (all, harm) => {
        const { spans } = await play(spoil(streamOf(all.plans, all.picks), harm));
        for (const span of spans) {
          expect(span.status.code).toBe(0);
          expect(span.attributes).not.toHaveProperty("error.type");
          expect(span.attributes).not.toHaveProperty("entelix.failure.kind");
        }
      }),
      RUNS,
    );
  });
});

describe("redelivery", () => {
  const prints = (spans: Awaited<ReturnType<typeof play>>["spans"]) =>
    spans.map(fingerprint).sort();

  it("of the whole stream, or of any event, makes no span and changes none", async () => {
    const again = fc.array(fc.tuple(fc.nat(200), fc.nat(50)), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(agents(), damage, again, fc.boolean(), async (all, harm, copies, twice) => {
        const stream = spoil(streamOf(all.plans, all.picks), harm);
        const repeated = twice ? [...stream, ...stream] : [...stream];
        for (const [at, later] of copies) {
          const copy = stream[at];
          if (copy !== undefined) repeated.splice(repeated.indexOf(copy) + 1 + later, 0, copy);
        }
        const once = await play(stream);
        const more = await play(repeated);
        expect(prints(more.spans)).toEqual(prints(once.spans));
        expect(more.diagnostics.ignored.duplicate).toBe(
          repeated.length - stream.length + once.diagnostics.ignored.duplicate,
        );
      }),
      RUNS,
    );
  });

  it("to a bridge that knows nothing of the first delivery makes the identical spans", async () => {
    await fc.assert(
      fc.asyncProperty(agents(), damage, async (all, harm) => {
        const stream = spoil(streamOf(all.plans, all.picks), harm);
        const copy = structuredClone(stream);
        expect(prints((await play(copy)).spans)).toEqual(prints((await play(stream)).spans));
      }),
      RUNS,
    );
  });

  it("without event ids makes no span of a run twice, when it comes at once", async () => {
    // What can be told apart without ids: starts, terminals, and the calls that are not empty.
    await fc.assert(
      fc.asyncProperty(agents(), async ({ plans, picks }) => {
        const stream = streamOf(plans, picks).map(withoutId);
        const stutter = stream.flatMap((sent) =>
          "tool_use_id" in sent.event && sent.event.tool_use_id === "" ? [sent] : [sent, sent],
        );
        const once = await play(stream);
        const twice = await play(stutter);
        expect(prints(twice.spans)).toEqual(prints(once.spans));
      }),
      RUNS,
    );
  });
});
