import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRfc3339 } from "../../../src/events/rfc3339.ts";
import { RUNTIMES } from "../../../src/replay/runtimes.ts";
import { decodeLogLine } from "../../../src/service/processor/decode-log-line.ts";
import { LineOrder } from "../../../src/service/processor/line-order.ts";
import { LogClock } from "../../../src/service/processor/log-clock.ts";
import { runs } from "../../support/runs.ts";

const DIALECTS = RUNTIMES.map(({ dialect }) => dialect);
const BEGIN = 1_780_000_000;

/** When each line arrives, and how much earlier or later its event is, in seconds. */
type Log = readonly (readonly [arrived: number, skew: number])[];

function lineAt(offset: number, second: number) {
  const event = {
    type: "complete",
    run_id: "018f3c7a-0000-7000-8000-000000000001",
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

/** Offsets by the line that released them: those of the lines from `from` on. */
function released(log: Log, from: number, size: number): [number, number[]][] {
  const clock = new LogClock();
  const order = new LineOrder({ size }, clock);
  const all: [number, number[]][] = [];
  for (const [offset, [arrived, skew]] of log.entries()) {
    if (offset < from) continue;
    clock.lineArrived((BEGIN + arrived) * 1000);
    const waited = order.arrived();
    const items = [...waited, ...order.add(lineAt(offset, arrived + skew))];
    all.push([offset, items.map(({ line }) => line)]);
  }
  return all;
}

const logs: fc.Arbitrary<Log> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 100, arbitrary: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1) },
        { weight: 1, arbitrary: fc.constantFrom(4, 20) },
      ),
      fc.oneof(
        { weight: 12, arbitrary: fc.integer({ min: -12, max: 0 }) },
        { weight: 1, arbitrary: fc.constantFrom(-3600, 3, 86_400) },
      ),
    ),
    { minLength: 150, maxLength: 300 },
  )
  .map((steps) => {
    let now = 0;
    return steps.map(([gap, skew]) => {
      now += gap;
      return [now, skew] as const;
    });
  });

describe("LineOrder", () => {
  it("releases the same by the same lines, wherever in the log it began", () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 12 }), fc.nat(60), (log, size, from) => {
        const whole = released(log, 0, size);
        const part = released(log, from, size);
        // What waited before the beginning waits no longer than 10 s, and what that took with it would not have, either.
        const behind = (index: number) => {
          const since = (log[index]?.[0] ?? Number.POSITIVE_INFINITY) + 10;
          const found = log.findIndex(([arrived]) => arrived > since);
          return found < 0 ? log.length : found;
        };
        const settled = Math.max(from + 80, behind(behind(from)) + 1);
        expect(part.filter(([offset]) => offset >= settled)).toEqual(
          whole.filter(([offset]) => offset >= settled),
        );
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
      [5, [3, 4, 1]],
    ]);
  });
});
