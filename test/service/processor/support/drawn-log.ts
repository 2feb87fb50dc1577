import fc from "fast-check";
import { type Instant, parseExact, stringifyExact } from "../../../../src/entries/events.ts";
import type { JsonObject } from "../../../../src/entries/replay.ts";
import {
  addMilliseconds,
  formatRfc3339,
  readTimestamp,
  toMilliseconds,
} from "../../../../src/events/door.ts";
import { isJsonObject } from "../../../../src/replay/door.ts";
import type { LogLine } from "../../../../src/service/processor/log-processor-options.ts";
import { chaos } from "../../../properties/chaos.ts";
import { LINES, STREAMS } from "../../../replay/dialects/agent-sdk/golden-lines.ts";
import { broken, intact } from "../../../replay/dialects/agent-sdk/grammar.ts";
import { recordedLines, recordings } from "../../../replay/dialects/defect/recordings.ts";
import { chaos as graphChaos } from "../../../replay/dialects/graph/threads.ts";
import { readLines } from "../../../support/golden.ts";
import { Random } from "../../../support/random.ts";

/** When every drawn stream begins, give or take a minute. */
const BEGIN: Instant = [1_780_000_000, 0];

interface TimedLine {
  readonly at: Readonly<Instant>;
  readonly value: JsonObject;
}

/** Streams that were recorded or written by hand, of every dialect; their lines have a time. */
const RECORDED: readonly (readonly TimedLine[])[] = [
  ...["entelix_lifecycles.jsonl", "entelix_lifecycles_older_0_5.jsonl"].flatMap((file) =>
    readLines(`golden/${file}`).map((text) => {
      const { events } = objectOf(parseExact(text));
      if (!Array.isArray(events)) throw new TypeError(`${file}: expected events`);
      return events.map((entry) => {
        const { at, event } = objectOf(entry);
        return timed({ ...objectOf(event), timestamp: at ?? null });
      });
    }),
  ),
  ...STREAMS.map(({ lines }) => lines.map(timed)),
  LINES.map(timed),
  ...recordings().map((recording) => recordedLines(recording).map(timed)),
  ...[
    "graph_endings",
    "graph_own_log",
    "graph_sub_agents",
    "graph_turns",
    "graph_upstream",
    "parallel_empty_ids",
    "retried_tool_call",
    "same_id_in_three_turns",
    "terminal_after_abandonment",
    "three_hour_silent_tool",
    "two_tenants_same_run_id",
  ].map((name) => readLines(`streams/${name}.ndjson`).map((text) => timed(parseExact(text)))),
].map(keepTimed);

export interface DrawnLogOptions {
  readonly seed: number;
  /** Streams in it. */
  readonly streams: number;
  /** Whether every event has an id. */
  readonly eventIds: boolean;
}

/**
 * A log of streams of all dialects, interleaved by time: with lines a little out of order, lines that
 * come again, lines of types that nobody knows, and lines that are none. The same seed gives the same log.
 */
export function drawnLog(options: DrawnLogOptions): LogLine[] {
  const random = new Random(options.seed);
  const all: { readonly ms: number; readonly line: Omit<LogLine, "offset" | "arrivedMs"> }[] = [];
  for (let n = 0; n < options.streams; n++) {
    const tenant = random.chance(0.8) ? `tenant-${n}` : undefined;
    const later = random.below(60_000);
    const stream = draw(random);
    const first = stream[0]?.at ?? BEGIN;
    const by = toMilliseconds(BEGIN) - toMilliseconds(first) + later;
    for (const [index, { at, value }] of stream.entries()) {
      const moved = addMilliseconds(at, by);
      const id = options.eventIds ? `e-${n}-${index}` : undefined;
      all.push({
        // Some streams are late as a whole, some lines among others.
        ms: toMilliseconds(moved) + random.below(random.chance(0.05) ? 5_000 : 200),
        line: {
          text: stringifyExact(placed(value, moved, tenant, id)),
          tenant,
          dialect: undefined,
          key: `sender-${n}`,
          trusted: random.chance(0.5),
        },
      });
    }
  }
  all.sort((a, b) => a.ms - b.ms);
  const lines: LogLine[] = [];
  let offset = random.below(1000);
  let arrivedMs = 0;
  const add = (line: Omit<LogLine, "offset" | "arrivedMs">) => {
    lines.push({ ...line, offset, arrivedMs });
    offset += random.chance(0.1) ? 3 : 1;
  };
  for (const { ms, line } of all) {
    arrivedMs = Math.max(arrivedMs, ms + random.below(50));
    add(line);
    if (random.chance(0.05)) {
      const { arrivedMs: _, offset: __, ...again } = random.of(lines.slice(-200));
      add(again);
    }
    if (random.chance(0.02)) add({ ...line, text: random.of(NO_EVENTS) });
    if (random.chance(0.05)) add({ ...line, text: ofTomorrow(line.text) });
  }
  return lines;
}

const NO_EVENTS = ["{", "[]", '{"type":"started"}', '{"type":"of_tomorrow"}', '{"hello":1}'];

/** A line of the same run, at the same time, that nobody understands. */
function ofTomorrow(text: string): string {
  const line = objectOf(parseExact(text));
  const type = "of_tomorrow";
  const { event_id: _, sequence: __, ...envelope } = line;
  if (!isJsonObject(line.event)) return stringifyExact({ ...envelope, type });
  return stringifyExact({ ...envelope, event: { ...line.event, type } });
}

function draw(random: Random): readonly TimedLine[] {
  const sample = { seed: random.below(2 ** 31), numRuns: 1 };
  switch (random.below(8)) {
    case 0:
      return keepTimed(
        (fc.sample(chaos(), sample)[0] ?? []).map(({ envelope, event }) => {
          const { timestamp, ...others } = envelope;
          const at = typeof timestamp === "object" ? formatRfc3339(timestamp) : "";
          return timed(plain({ ...others, ...event, timestamp: at }));
        }),
      );
    case 1:
      return keepTimed((fc.sample(intact, sample)[0]?.lines ?? []).map(timed));
    case 2:
      return keepTimed((fc.sample(broken, sample)[0] ?? []).map(timed));
    case 3:
      return keepTimed(
        (fc.sample(graphChaos, sample)[0] ?? []).map((text) => timed(parseExact(text))),
      );
    default:
      return random.of(RECORDED);
  }
}

function timed(value: unknown): TimedLine | undefined {
  const line = objectOf(value);
  const text = isJsonObject(line.event) ? (line.timestamp ?? line.event.timestamp) : line.timestamp;
  const at = typeof text === "string" ? readTimestamp(text) : undefined;
  return at === undefined ? undefined : { at, value: line };
}

function keepTimed(lines: readonly (TimedLine | undefined)[]): readonly TimedLine[] {
  return lines.filter((line) => line !== undefined);
}

/** The line at another time, of a tenant, and known by an id where it is to be. */
function placed(
  value: JsonObject,
  at: Instant,
  tenant: string | undefined,
  id: string | undefined,
): JsonObject {
  const timestamp = formatRfc3339(at);
  const named = id === undefined ? {} : { event_id: id };
  if (!isJsonObject(value.event)) {
    // A bare GraphEvent has no envelope, and so no id.
    if (value.type === undefined) return { ...value, timestamp };
    const owner =
      tenant === undefined || value.tenant_id === undefined ? {} : { tenant_id: tenant };
    return { ...value, ...owner, ...named, timestamp };
  }
  const event = { ...value.event, timestamp };
  const owner = tenant === undefined || value.tenant_id === undefined ? {} : { tenant_id: tenant };
  return { ...value, ...owner, ...named, timestamp, event };
}

function plain(value: unknown): JsonObject {
  return objectOf(parseExact(JSON.stringify(value)));
}

function objectOf(value: unknown): JsonObject {
  const json: unknown = value;
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return { ...json };
  throw new TypeError(`expected an object, got ${typeof value}`);
}
