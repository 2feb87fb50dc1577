import { describe, expect, it } from "vitest";
import type { LogLine } from "../../../src/service/processor/log-processor-options.ts";
import { Random } from "../../support/random.ts";
import { IS_DEEP } from "../../support/runs.ts";
import { drawnLog } from "./support/drawn-log.ts";
import { Life, World } from "./support/lives.ts";

interface Course {
  /** How many processes are killed, one after the other. */
  readonly kills: number;
  /** Chance that a call of a store fails. */
  readonly failures: number;
  /** Chance of a commit after a line. */
  readonly commits: number;
  /** Whether what is stored above the commit position is kept too. */
  readonly keepsStored: boolean;
  /** Offsets before the commit position from which a process goes on. */
  readonly lookback: number;
  /** Event time after which a silent run is given up, in ms. */
  readonly maxAgeMs: number;
  /** Names of attributes on spans. */
  readonly conventions: "genai" | "both";
}

/** Works the log to its end through as many processes as it takes. */
async function work(log: readonly LogLine[], random: Random, course: Course): Promise<World> {
  const world = new World();
  const limits = { maxAgeMs: course.maxAgeMs };
  const onSpans = { captureContent: true, conventions: course.conventions };
  let from = 0;
  let stored: number | undefined;
  let life = new Life(world, random, course.failures, { from, limits, onSpans });
  let commit: Promise<void> = Promise.resolve();
  let index = 0;
  let kills = course.kills;
  let left = random.below(log.length);
  while (index < log.length) {
    const line = log[index++];
    if (line !== undefined) await life.processor.take(line);
    if (random.chance(course.commits)) {
      const waits = random.chance(0.5);
      const settling = life;
      commit = commit.then(() => settling.commit());
      if (waits) await commit;
    }
    if (kills === 0 || left-- > 0) continue;
    life.kill();
    kills--;
    from = life.settled;
    stored = course.keepsStored ? life.stored : undefined;
    life = new Life(world, random, course.failures, { from, stored, limits, onSpans });
    commit = Promise.resolve();
    index = log.findIndex(({ offset }) => offset >= from - course.lookback);
    if (index < 0) index = log.length;
    left = random.below(log.length - index);
  }
  await life.processor.idle(Date.now() + 20_000);
  await commit;
  await life.commit();
  expect(life.processor.figures).toMatchObject({ waiting: 0, inFlight: 0 });
  return world;
}

/** How many logs are drawn: 16 in CI; more when something is looked for. */
const LOGS = Number(process.env.LANE_LOGS ?? (IS_DEEP ? 16 : 6));

const calm: Course = {
  kills: 0,
  failures: 0,
  commits: 0,
  keepsStored: false,
  lookback: 0,
  maxAgeMs: 86_400_000,
  conventions: "genai",
};

describe("a log processor that is killed again and again", () => {
  for (let seed = 1; seed <= LOGS; seed++) {
    it(`stores what an uninterrupted one does (log ${seed})`, async () => {
      const random = new Random(seed);
      const log = drawnLog({ seed, streams: 1 + random.below(16), eventIds: random.chance(0.5) });
      const maxAgeMs = random.of([86_400_000, 30_000, 5_000, 1_000]);
      const conventions = seed % 2 === 0 ? "both" : "genai";
      const whole = await work(log, new Random(seed), { ...calm, conventions, maxAgeMs });
      const killed = await work(log, random, {
        kills: 1 + random.below(6),
        failures: random.of([0, 0.05, 0.3]),
        commits: random.of([0.01, 0.1, 0.5]),
        keepsStored: random.chance(0.5),
        lookback: Number.POSITIVE_INFINITY,
        maxAgeMs,
        conventions,
      });
      expect(await killed.contents()).toEqual(await whole.contents());
      // A row without a thread: its event names neither thread nor run.
      expect(whole.errors.filter((error) => !error.includes("TypeError: run_id:"))).toEqual([]);
    });
  }
});
