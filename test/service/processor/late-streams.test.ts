import { describe, expect, it } from "vitest";
import type { ReorderBufferOptions } from "../../../src/entries/replay.ts";
import type { LogLine } from "../../../src/service/journal/log-line.ts";
import { oldBacklog } from "../../replay/input/support/backlogs.ts";
import { lateStreams } from "../../replay/input/support/late-streams.ts";
import { Random } from "../../support/random.ts";
import { ZERO } from "../../support/run-events.ts";
import { IS_DEEP } from "../../support/runs.ts";
import { Life, World } from "./support/lives.ts";

const HOUR = 3_600;

/** Lines as a partition or a journal has them, 10 ms apart. */
function logOf(lines: readonly string[], everyMs = 10): LogLine[] {
  return lines.map((text, offset) => ({
    offset,
    text,
    arrivedMs: ZERO * 1000 + offset * everyMs,
    tenant: undefined,
    dialect: "entelix",
    key: undefined,
    trusted: true,
  }));
}

/** Works a log to its end; where `kill` is given, a second process goes on from what is settled by then. */
async function worked(
  log: readonly LogLine[],
  kill = log.length,
  window: ReorderBufferOptions = {},
) {
  const world = new World();
  const options = { limits: { maxAgeMs: (HOUR / 2) * 1000 }, window };
  const first = new Life(world, new Random(1), 0, { from: 0, ...options });
  for (const line of log.slice(0, kill)) await first.processor.take(line);
  await first.commit();
  first.kill();
  const { settled: from, stored } = first;
  const life = new Life(world, new Random(2), 0, { from, stored, ...options });
  for (const line of log) await life.processor.take(line);
  await life.processor.idle(Date.now() + 30_000);
  await life.commit();
  expect(world.errors).toEqual([]);
  expect(life.processor.figures).toMatchObject({ waiting: 0, openRuns: 0 });
  return { world, late: life.processor.figures.late };
}

const spansOf = (world: World) =>
  [...world.spans.values()].flatMap((contents) => [...contents]).sort();

describe("a log with streams that are late beside others", () => {
  it("makes a complete run of two lines of an hour ago, in the wrong order, behind newer runs", async () => {
    const log = logOf(oldBacklog(), 500);
    const { late, world } = await worked(log, 301);
    const own = spansOf(world).filter((span) => span.includes("invoke_agent backlog"));
    expect(own).toHaveLength(1);
    expect(own[0]).toContain('["entelix.run.outcome","complete"]');
    expect(own[0]).not.toContain("start_unseen");
    expect(late).toBe(0);
  });

  for (const [name, everyMs] of [
    ["in a hurry", 1],
    ["slowly, so that lines wait by time", 400],
  ] as const) {
    it(`makes what the sorted log makes, also by two processes: ${name}`, async () => {
      const window = { size: 32, maxSize: 96 };
      for (const seed of IS_DEEP ? [1, 2, 3] : [1]) {
        const random = new Random(seed);
        const offsets = [0, 0, -HOUR, -20 * HOUR, HOUR / 4];
        const drawn = lateStreams(random, { roots: 50, block: 8, offsets });
        const [sorted, arrived, killed] = await Promise.all([
          worked(logOf(drawn.sorted, everyMs), 450, window),
          worked(logOf(drawn.arrived, everyMs), 450, window),
          worked(logOf(drawn.arrived, everyMs), random.below(450), window),
        ]);
        expect(spansOf(arrived.world)).toEqual(spansOf(sorted.world));
        expect(await killed.world.contents()).toEqual(await arrived.world.contents());
        expect(arrived.late).toBe(0);
      }
    });
  }
});
