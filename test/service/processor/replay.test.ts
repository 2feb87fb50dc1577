import { emptyResource } from "@opentelemetry/resources";
import { describe, expect, it } from "vitest";
import { createReplayProvider } from "../../../src/bridge/door.ts";
import { readEvents } from "../../../src/entries/replay.ts";
import { Bridge } from "../../../src/index.ts";
import { type AnyRuntime, RUNTIMES } from "../../../src/replay/door.ts";
import { decodeLogLine } from "../../../src/service/processor/decode-log-line.ts";
import type { LogLine } from "../../../src/service/processor/log-processor-options.ts";
import { Random } from "../../support/random.ts";
import { drawnLog } from "./support/drawn-log.ts";
import { Life, World } from "./support/lives.ts";

const DAY_MS = 86_400_000;
const DIALECTS = RUNTIMES.map(({ dialect }) => dialect);

describe("a log processor", () => {
  for (const runtime of RUNTIMES) {
    const { name } = runtime.dialect;
    it(`makes the spans that a replay of its lines makes (${name})`, async () => {
      let spans = 0;
      for (const seed of [1, 2, 3]) {
        const log = linesOf(name, seed);
        const laned = new World();
        const life = new Life(laned, new Random(seed), 0, { from: 0, audit: undefined });
        for (const line of log) await life.processor.take(line);
        // A replay gives up what is open at its end, each at its last event; a log processor when it grows
        // old.
        await life.processor.idle(Date.now() + 100 * DAY_MS);
        await life.commit();
        const replayed = new World();
        await replay(replayed, runtime, log);
        expect(closed(laned)).toEqual(closed(replayed));
        spans += closed(laned).length;
      }
      expect(spans).toBeGreaterThan(20);
    });
  }
});

/** The events of one dialect in a log of all. */
function linesOf(name: string, seed: number): LogLine[] {
  const before = new Map<string | undefined, string>();
  return drawnLog({ seed, streams: 16, eventIds: true })
    .map((line) => ({ ...line, tenant: undefined, trusted: true, arrivedMs: 0 }))
    .filter((line) => {
      const decoded = decodeLogLine(line, DIALECTS, before.get(line.key));
      if (decoded.issues !== undefined) return false;
      before.set(line.key, decoded.dialect);
      return decoded.dialect === name && (decoded.event ?? decoded.activity) !== undefined;
    });
}

/** Replays lines through a bridge, as the command does with files. */
async function replay(
  world: World,
  { dialect, player }: AnyRuntime,
  log: readonly LogLine[],
): Promise<void> {
  const provider = createReplayProvider(emptyResource(), {
    onEnd: (span) => world.keep([span]),
  });
  const bridge = new Bridge({ mode: "replay", tracerProvider: provider, captureContent: true });
  const playing = player(bridge, "default");
  await readEvents(source(log), {
    dialects: [dialect],
    onEvent: ({ event, envelope }) => void playing.take(event, envelope),
    onActivity: ({ envelope, value }) => playing.keepAlive(value, envelope),
  });
  await bridge.shutdown();
}

async function* source(log: readonly { readonly text: string }[]): AsyncGenerator<string> {
  yield log.map(({ text }) => `${text}\n`).join("");
}

/** The spans of runs that ended by themselves. */
function closed(world: World): string[] {
  return [...world.spans.values()]
    .flatMap((contents) => [...contents])
    .filter((span) => !span.includes('"abandoned"'))
    .sort();
}
