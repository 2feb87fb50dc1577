import { type Instant, type JsonValue, parseExact } from "../../../../src/entries/events.ts";
import { addMilliseconds, formatRfc3339, readTimestamp } from "../../../../src/events/door.ts";
import { isJsonObject, type JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { readLines } from "../../../support/golden.ts";

/** When recordings begin that say no time: the one that the others say. */
const BASE_TIME = "2026-06-12T10:00:00Z";

/** One recorded session: events with their offset in ms. */
export interface Recording {
  /** `file#id`, as in the drawn trees. */
  readonly name: string;
  readonly session: string | undefined;
  readonly from: Readonly<Instant>;
  readonly events: readonly { readonly at_ms: number; readonly event: JsonObject }[];
}

/** Every golden stream of defect. */
export function recordings(): Recording[] {
  return ["defect_streams.jsonl", "defect_real_runs.jsonl"].flatMap((file) =>
    readLines(`golden/${file}`).map((text) => toRecording(file, parseExact(text))),
  );
}

function toRecording(file: string, value: JsonValue): Recording {
  if (!isJsonObject(value) || !Array.isArray(value.events)) throw new TypeError(file);
  const { base_time = BASE_TIME, session_id } = value;
  const from = typeof base_time === "string" ? readTimestamp(base_time) : undefined;
  if (from === undefined) throw new TypeError(`${file}: base_time`);
  return {
    name: `${file}#${String(value.id)}`,
    session: typeof session_id === "string" ? session_id : undefined,
    from,
    events: value.events.map((entry: JsonValue) => {
      if (!isJsonObject(entry) || typeof entry.at_ms !== "number" || !isJsonObject(entry.event)) {
        throw new TypeError(`${file}: an entry without event or time`);
      }
      return { at_ms: entry.at_ms, event: entry.event };
    }),
  };
}

/** The session as flat lines. */
export function recordedLines({ session, from, events }: Recording): JsonObject[] {
  return events.map(({ at_ms, event }) => ({
    timestamp: formatRfc3339(addMilliseconds(from, at_ms)),
    ...(session === undefined ? {} : { session_id: session }),
    ...event,
  }));
}
