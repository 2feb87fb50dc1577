import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { decodeLogLine } from "../../../src/service/processor/decode-log-line.ts";
import { LineOrder } from "../../../src/service/processor/line-order.ts";
import { LogClock } from "../../../src/service/processor/log-clock.ts";
import { runs } from "../../support/runs.ts";

const DIALECTS = RUNTIMES.map(({ dialect }) => dialect);
const BEGIN = 1_780_000_000;

/** How late lines are at most, in seconds. */
const MOST_LATE_S = 4;

/** When each line arrives, and how much earlier or later its event is, in seconds. */
type Log = readonly (readonly [arrived: number, skew: number])[];

/** By how much clocks are wrong, in seconds: those of runs of their own. */
const WRONG_CLOCKS = [-3600, 3600, 86_400] as const;

function lineAt(offset: number, second: number, run = 0) {
  const event = {
    type: "complete",
    run_id: `018f3c7a-0000-7000-8000-00000000000${run}`,
    tenant_id: "acme",
    state: offset,
    usage: null,
    timestamp: formatRfc3339([BEGIN + second, 0]),
  };
  const text = JSON.stringify(event);
  const line = { text, offset, tenant: undefined, dialect: "entelix", trusted: true };
  const decoded = decodeLogLine(line, DIALECTS);
  if (decoded.event === undefined) throw new Error("expected an event");
  return decoded.event;
}

function runOf(skew: number): number {
  return 1 + WRONG_CLOCKS.findIndex((wrong) => skew <= wrong && skew >= wrong - MOST_LATE_S);
}

/** Offsets by the line that released them: those of the lines from `from` on. */
function released(log: Log, from: number, size: number): [number, number[]][] {
  const clock = new LogClock();
  const order = new LineOrder({ size }, clock);
  const all: [number, number[]][] = [];
  for (const [offset, [arrived, skew]] of log.entries()) {
    if (offset < from) continue;
    clock.lineArrived((BEGIN + arrived) * 1000);
    const waited = order.arrived();
    const items = [...waited, ...order.add(lineAt(offset, arrived + skew, runOf(skew)))];
    all.push([offset, items.map(({ line }) => line)]);
  }
  return all;
}

/**
 * Logs whose lines are up to `size` places and {@link MOST_LATE_S} late.
 *
 * @param clocks by how much clocks are wrong, in seconds.
 */
function logsWith(clocks: readonly number[]): fc.Arbitrary<{ log: Log; size: number }> {
  const gap = fc.oneof(
    { weight: 100, arbitrary: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1) },
    { weight: 1, arbitrary: fc.constantFrom(4, 20) },
  );
  const clock = fc.oneof(
    { weight: 12, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(...clocks) },
  );
  const steps = fc.array(fc.record({ gap, clock, places: fc.nat(12) }), {
    minLength: 150,
    maxLength: 300,
  });
  return fc.record({ steps, size: fc.integer({ min: 1, max: 12 }) }).map(({ steps, size }) => {
    let now = 0;
    const arrivals = steps.map(({ gap }) => {
      now += gap;
      return now;
    });
    const log = steps.map(({ places, clock }, index) => {
      const arrived = arrivals[index] ?? 0;
      const emitted = arrivals[Math.max(0, index - Math.min(places, size))] ?? 0;
      return [arrived, clock + Math.max(-MOST_LATE_S, emitted - arrived)] as const;
    });
    return { log, size };
  });
}

/** The first line that nothing from before the beginning has to do with. */
function settledFrom(log: Log, from: number): number {
  // What waited before the beginning waits no longer than 10 s, and what that took with it would not have, either.
  const behind = (index: number) => {
    const since = (log[index]?.[0] ?? Number.POSITIVE_INFINITY) + 10;
    const found = log.findIndex(([arrived]) => arrived > since);
    return found < 0 ? log.length : found;
  };
  return Math.max(from + 80, behind(behind(from)) + 1);
}

describe("LineOrder", () => {
  it("releases the same by the same lines, wherever in the log it began", () => {
    fc.assert(
      fc.property(logsWith([0]), fc.nat(60), ({ log, size }, from) => {
        const settled = settledFrom(log, from);
        const [part, whole] = [from, 0].map((first) =>
          released(log, first, size).filter(([offset]) => offset >= settled),
        );
        expect(part).toEqual(whole);
      }),
      { numRuns: runs(60) },
    );
  });

  it("releases the lines of each run in the same order, whatever the clocks of other runs say", () => {
    fc.assert(
      fc.property(logsWith(WRONG_CLOCKS), fc.nat(60), ({ log, size }, from) => {
        const settled = settledFrom(log, from);
        const skewOf = (offset: number) => log[offset]?.[1] ?? 0;
        const timeOf = (offset: number) => (log[offset]?.[0] ?? 0) + skewOf(offset);
        const [part = [], whole = []] = [from, 0].map((first) =>
          released(log, first, size).flatMap(([, offsets]) => offsets),
        );
        for (const run of [0, 1, 2, 3]) {
          const isOfRun = (offset: number) => offset >= settled && runOf(skewOf(offset)) === run;
          const lines = part.filter(isOfRun);
          expect(lines).toEqual(whole.filter(isOfRun));
          const times = lines.map(timeOf);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it("lets lines wait for earlier ones no longer than it was told, by the times of the log", () => {
    const log: Log = [
      [0, 0],
      [2, 0],
      [5, -1],
      [6, 0],
      [12, 0],
    ];
    expect(released(log, 0, 100)).toEqual([
      [0, []],
      [1, []],
      [2, []],
      [3, [0]],
      [4, [1, 2, 3]],
    ]);
  });

  it("lets lines wait no longer where the machine's clock is put back and no more of them come", () => {
    const clock = new LogClock();
    const order = new LineOrder({}, clock);
    clock.lineArrived(BEGIN * 1000);
    order.add(lineAt(0, 0));
    const back = Date.now() - 3_600_000;
    const waited = [0, 3_000, 6_000, 6_001].map((ms) => order.idle(back + ms).length);
    expect(waited).toEqual([0, 0, 0, 1]);
  });

  it("lets no clock that is ahead hold the others up, and no more than twice as long its own lines", () => {
    const log: Log = [
      [0, 0],
      [0, 3600],
      [1, 0],
      [2, 0],
      [6, 0],
      [11, 0],
    ];
    expect(released(log, 0, 2)).toEqual([
      [0, []],
      [1, []],
      [2, [0]],
      [3, []],
      [4, [2]],
      [5, [3, 1]],
    ]);
  });
});
