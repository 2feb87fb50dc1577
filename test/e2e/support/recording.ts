import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Instant, parseExact, stringifyExact } from "../../../src/entries/events.ts";
import type { JsonObject } from "../../../src/entries/replay.ts";
import { formatRfc3339, readTimestamp } from "../../../src/events/door.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readLines } from "../../support/golden.ts";
import { shipped } from "./stack.ts";

/** One event as a flat envelope. */
export interface RecordedLine {
  /** Its `timestamp`. */
  readonly at: Readonly<Instant>;
  readonly text: string;
}

/** The events of one recorded stream. */
export interface Recording {
  /** As in `test/expected`: `file#id`, or the name of a file of `recordings/`. */
  readonly name: string;
  readonly lines: readonly RecordedLine[];
}

/** The streams of `recordings/`, as they are shipped. */
export function shippedRecordings(): Recording[] {
  const folder = shipped("recordings");
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ndjson"))
    .map((file) => {
      const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
      return recording(basename(file, ".ndjson"), lines.map(objectOf));
    });
}

/** The streams of a file of `test/golden`, as flat envelopes: their events have no ids. */
export function goldenRecordings(file: string): Recording[] {
  return readLines(`golden/${file}`).map((text) => {
    const { id, events } = objectOf(text);
    if (!Array.isArray(events)) throw new TypeError(`${file}: expected events`);
    const lines = events.map((entry): JsonObject => {
      if (!isJsonObject(entry) || !isJsonObject(entry.event) || entry.at === undefined) {
        throw new TypeError(`${file}: an entry without event or time`);
      }
      return { ...entry.event, timestamp: entry.at };
    });
    return recording(`${file}#${String(id)}`, lines);
  });
}

/** The same events, later or earlier, so that the first has the given time; their gaps stay. */
export function shiftedTo(begin: Readonly<Instant>, recorded: Recording): Recording {
  const objects = recorded.lines.map(({ text }) => objectOf(text));
  const first = timeOf(objects[0] ?? {});
  return recording(
    recorded.name,
    objects.map((line) => {
      const [second, nano] = timeOf(line);
      const [firstSecond, firstNano] = first;
      const gap: Instant = [second - firstSecond, nano - firstNano];
      return { ...line, timestamp: formatRfc3339(added(begin, gap)) };
    }),
  );
}

/** The same events with other texts in them: run ids, above all. */
export function renamed(rename: (text: string) => string, recorded: Recording): Recording {
  const lines = recorded.lines.map(({ at, text }) => ({ at, text: rename(text) }));
  return { name: recorded.name, lines };
}

function added([second, nano]: Readonly<Instant>, [seconds, nanos]: Readonly<Instant>): Instant {
  const sum = nano + nanos;
  const carry = Math.floor(sum / 1e9);
  return [second + seconds + carry, sum - carry * 1e9];
}

function recording(name: string, lines: readonly JsonObject[]): Recording {
  return {
    name,
    lines: lines.map((line) => ({ at: timeOf(line), text: stringifyExact(line) })),
  };
}

function timeOf({ timestamp }: JsonObject): Readonly<Instant> {
  const at = typeof timestamp === "string" ? readTimestamp(timestamp) : undefined;
  if (at === undefined) throw new TypeError(`expected a timestamp, got ${String(timestamp)}`);
  return at;
}

function objectOf(text: string): JsonObject {
  const value = parseExact(text);
  if (!isJsonObject(value)) throw new TypeError(`expected an object: ${text}`);
  return value;
}
