import { parseLine } from "../../../src/replay/input/decode-line.ts";
import { Tally } from "../../../src/replay/input/event-intake.ts";
import { DEFAULT_MAX_LINE_BYTES } from "../../../src/replay/input/ndjson-reader.ts";
import { ReorderBuffer } from "../../../src/replay/input/reorder-buffer.ts";
import { firstThat } from "../../support/first-that.ts";

/** The limits of this room as its code has them, by their rows in `docs/limits.md`. */
export const REPLAY_FIGURES: Readonly<Record<string, () => number | Promise<number>>> = {
  maxLineBytes: () => DEFAULT_MAX_LINE_BYTES,
  "characters of an id or name in a line": () =>
    firstThat(5_000, (length) => parseLine(`{"id":"${"x".repeat(length)}"}`).value === undefined) -
    1,
  "window.size": () => {
    const buffer = new ReorderBuffer();
    for (let at = 0; buffer.push(item(at)).length === 0; at++);
    return buffer.held;
  },
  "window.maxSize": () => {
    const buffer = new ReorderBuffer({ batch: 1 });
    // The first waits for all others, each of which is earlier.
    let others = 0;
    for (let released = 0; released === 0; others++) {
      released = buffer.push(item(-others, others, `stream ${others}`)).length;
    }
    return others - 1;
  },
  "streams whose last event is remembered": () => {
    const buffer = new ReorderBuffer({ size: 0 });
    for (let n = 0; buffer.forgottenStreams === 0; n++) buffer.push(item(n, n, `stream ${n}`));
    return buffer.forgottenStreams;
  },
  "window.maxWaitMs": () => {
    const buffer = new ReorderBuffer();
    buffer.push(item(0), 0);
    for (let ms = 0; ; ms++) if (buffer.drainOlderThan(ms).length > 0) return ms - 1;
  },
  "names in the report": () => {
    const tally = new Tally();
    for (let n = 0; !tally.counts.has("_other"); n++) tally.add(`name ${n}`);
    return tally.counts.size - 1;
  },
};

function item(at: number, line = 0, stream = "one") {
  return {
    at: [at, 0] as const,
    rank: 3 as const,
    sequence: undefined,
    eventId: undefined,
    text: String(line),
    streamKey: () => ({ stream }),
    streamName: () => stream,
  };
}
