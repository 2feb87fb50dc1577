import { MOST_JSON_BYTES, MOST_NAME } from "../events/door.ts";
import type { AuditEntry, NamedThread } from "./audit-row.ts";
import { type RowFacts, sha256 } from "./row-text.ts";
import { encodeGraphEvent } from "./wire/graph-event-codec.ts";

/** A copy of an entry, which the caller cannot change. */
export interface EntryText extends RowFacts {
  /** The event as it is stored. */
  readonly event_text: string;
  /** Thread and event ID as one text, by which a redelivery is recognized. `null` if the event ID is unknown or new. */
  readonly event_name: string | null;
}

/**
 * Reads an entry once and encodes it.
 *
 * @throws TypeError if the event is not an object with a `kind`, or if an ID is neither missing nor a string of at
 *   most 4,096 characters.
 * @throws RangeError if one of its values has more than 32 MiB of JSON.
 */
export function encodeEntry(entry: AuditEntry, thread: NamedThread): EntryText {
  const { event } = entry;
  if (typeof event !== "object" || event === null || typeof event.kind !== "string") {
    throw new TypeError("event: expected a GraphEvent, an object with a kind");
  }
  const text = encodeGraphEvent(event);
  const event_id = known(entry.event_id, "event_id");
  return {
    run_id: known(entry.run_id, "run_id"),
    event_id,
    trace_id: known(entry.trace_id, "trace_id"),
    span_id: known(entry.span_id, "span_id"),
    digest: sha256(text),
    event_text: text,
    event_name: event_id === null || entry.is_new === true ? null : thread.name + event_id,
  };
}

/**
 * {@link encodeEntry} for the entries of a persistent log.
 *
 * @throws TypeError as `encodeEntry`.
 * @throws RangeError if an event is longer than a log allows.
 */
export function encodeEntries(
  entries: readonly AuditEntry[],
  thread: NamedThread,
): readonly EntryText[] {
  const encoded = entries.map((entry) => encodeEntry(entry, thread));
  for (const { event_text: text } of encoded) {
    if (text.length * 3 <= MOST_JSON_BYTES) continue;
    const bytes = Buffer.byteLength(text);
    if (bytes <= MOST_JSON_BYTES) continue;
    throw new RangeError(`event: expected at most ${MOST_JSON_BYTES} bytes of JSON, got ${bytes}`);
  }
  return encoded;
}

/** An empty ID is the same as none. Both are stored as `null`. */
function known(id: unknown, field: string): string | null {
  if (id === undefined || id === null || id === "") return null;
  if (typeof id === "string" && id.length <= MOST_NAME) return id;
  throw new TypeError(
    `${field}: expected a string of at most ${MOST_NAME} characters, or nothing when not known`,
  );
}
