import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge, type LifecycleLimits } from "../../../src/index.ts";
import { entelixDialect } from "../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { type ReadReport, readEvents } from "../../../src/replay/input/read-events.ts";
import type { ReorderBufferOptions } from "../../../src/replay/input/reorder-buffer.ts";
import { watchSpans } from "../../properties/watch.ts";
import { Random } from "../../support/random.ts";
import { runs } from "../../support/runs.ts";
import { fingerprint } from "../../support/spans.ts";
import { oldBacklog } from "./support/backlogs.ts";
import { lateStreams } from "./support/late-streams.ts";

interface Replayed {
  readonly spans: readonly string[];
  readonly report: ReadReport;
}

interface ReplayOptions {
  readonly window?: ReorderBufferOptions;
  readonly limits?: Partial<LifecycleLimits>;
  /** Bytes of each piece of the source. */
  readonly piece?: number;
}

async function replayed(lines: readonly string[], options: ReplayOptions = {}): Promise<Replayed> {
  const watch = watchSpans();
  const bridge = new Bridge({
    mode: "replay",
    tracerProvider: watch.provider,
    limits: options.limits,
  });
  const report = await readEvents(pieces(lines, options.piece), {
    dialects: [entelixDialect],
    window: options.window,
    onEvent: ({ event, envelope }) => void bridge.send(event, envelope),
  });
  await bridge.shutdown();
  expect(watch.endedTwice).toEqual([]);
  return { spans: watch.ended.map(fingerprint).sort(), report };
}

async function* pieces(lines: readonly string[], bytes = 65_536): AsyncGenerator<Buffer> {
  const all = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes);
}

/** The events of each root and of the run below it, in the order in which they are delivered. */
async function orderOf(lines: readonly string[]): Promise<Map<string, string>> {
  const roots = new Map<string, string>();
  for (const line of lines) {
    const { parent_run_id, run_id } = JSON.parse(line);
    if (typeof parent_run_id === "string") roots.set(run_id, parent_run_id);
  }
  const order = new Map<string, string>();
  await readEvents(pieces(lines), {
    dialects: [entelixDialect],
    onEvent: ({ envelope, event }) => {
      const root = roots.get(event.run_id) ?? event.run_id;
      order.set(root, `${order.get(root) ?? ""} ${envelope.event_id?.slice(-2)}`);
    },
  });
  return order;
}

const HOUR = 3_600;

/** What streams are apart by, in seconds. */
const OFFSETS = {
  "backlogs of hours ago": [0, 0, -HOUR, -9 * HOUR],
  "a clock an hour behind and one an hour ahead": [0, -HOUR, HOUR],
  "streams seconds apart": [0, -2, -30, 5],
  "most are late": [0, -HOUR, -HOUR, -2 * HOUR, -2 * HOUR],
};

describe("streams that are late beside others", () => {
  for (const [name, offsets] of Object.entries(OFFSETS)) {
    it(`make the spans of the sorted input: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer(),
          fc.integer({ min: 1, max: 5_000 }),
          fc.constantFrom(0, 0.03),
          fc.constantFrom(16, 28),
          async (seed, piece, lost, block) => {
            const random = new Random(seed);
            const drawn = lateStreams(random, {
              roots: 40,
              block,
              offsets,
              lost,
              doubled: lost,
            });
            const options = {
              window: { size: 32, maxSize: 96 },
              limits: { maxAgeMs: (HOUR / 2) * 1000 },
              piece,
            };
            const arrived = await replayed(drawn.arrived, options);
            const sorted = await replayed(drawn.sorted, options);
            expect(arrived.spans).toEqual(sorted.spans);
            expect(arrived.report.late).toBe(0);
          },
        ),
        { numRuns: runs(20) },
      );
    });
  }

  it.each([1, 2, 3])(
    "are put in order in the default window, for thousands of lines (%s)",
    async (seed) => {
      const offsets = [0, 0, 0, -HOUR, -9 * HOUR, HOUR];
      const drawn = lateStreams(new Random(seed), { roots: 300, block: 100, offsets });
      const arrived = await replayed(drawn.arrived, { piece: 10_000 });
      expect(arrived.spans).toEqual((await replayed(drawn.sorted)).spans);
      expect(arrived.spans).toHaveLength(300 * 5);
      expect(arrived.report).toMatchObject({ events: 2_700, late: 0, forgottenStreams: 0 });
    },
  );

  it("are put in order with the runs below and above them, whatever is released together", async () => {
    for (let seed = 0; seed < runs(60); seed += 1) {
      const offsets = [0, 0, 0, -HOUR, -9 * HOUR];
      const drawn = lateStreams(new Random(seed), { roots: 170, block: 100, offsets });
      const [arrived, sorted] = [await orderOf(drawn.arrived), await orderOf(drawn.sorted)];
      expect([seed, [...arrived].sort()]).toEqual([seed, [...sorted].sort()]);
    }
  });

  it("are whole where a backlog of two lines in the wrong order comes after newer runs", async () => {
    const { report, spans } = await replayed(oldBacklog());
    const [own, ...others] = spans.filter((span) => span.includes("invoke_agent backlog"));
    expect(own).toContain('["entelix.run.outcome","complete"]');
    expect(own).not.toContain("start_unseen");
    expect(others).toEqual([]);
    expect(report.late).toBe(0);
  });

  it("are counted, event by event, where a backlog is longer than the window and in the reverse order", async () => {
    // What waits goes when 1,152 have come after it: of the first 1,000 nothing has.
    expect((await replayed(oldBacklog({ backlog: 1_000 }))).report.late).toBe(0);
    const { report } = await replayed(oldBacklog({ backlog: 3_000 }));
    expect(report.events).toBe(3_300);
    expect(report.late).toBeGreaterThan(1_500);
    expect(report.late).toBeLessThan(3_000);
  });

  it("are not given up though events of other streams say that it is days later", async () => {
    const drawn = lateStreams(new Random(2), { roots: 200, block: 16, offsets: [0, -72 * HOUR] });
    const arrived = await replayed(drawn.arrived);
    const sorted = await replayed(drawn.sorted);
    expect(arrived.spans).toEqual(sorted.spans);
    expect(arrived.spans.filter((span) => span.includes("abandoned"))).toEqual([]);
  });
});
