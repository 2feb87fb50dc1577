import type { EventEnvelope, Instant, JsonValue } from "../../events/door.ts";

/** One parsed line: what a dialect decodes. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** Whether a JSON value is an object, and no array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is wrong with one field of a line. */
export interface DecodeIssue {
  /** Path of the field, such as `envelope.wire_code`. */
  readonly field: string;
  /** What was expected there; completes "expected …". */
  readonly expected: string;
}

/** The envelope of a line. A line has its time, since nobody read a clock for it. */
export interface LineEnvelope extends EventEnvelope {
  readonly timestamp: Readonly<Instant>;
  /** Whose event it is, where the runtime's own events do not say. */
  readonly tenant_id?: string;
}

/**
 * What an event does to its stream, as far as the order of events with equal times depends on it:
 * of one stream without sequences, lower numbers come first.
 */
export const EVENT_RANK = {
  runOpens: 0,
  decision: 1,
  callOpens: 2,
  note: 3,
  callCloses: 4,
  runCloses: 5,
} as const;

/** One of them: 0 opens a run, 5 closes it. */
export type EventRank = (typeof EVENT_RANK)[keyof typeof EVENT_RANK];

/** An event that was checked, with what its line says beside it. */
export interface DecodedEvent<E> {
  readonly outcome: "event";
  readonly event: E;
  readonly envelope: LineEnvelope;
  readonly rank: EventRank;
  /**
   * Values outside a closed set (`kind.type=brand_new`), each replaced in `event` by the set's
   * "not known". Nearly always empty.
   */
  readonly unknownValues: readonly string[];
}

/** An event of a type that this version does not know. It is counted and passed through. */
export interface UnknownEvent {
  readonly outcome: "unknown";
  /** The event's type. */
  readonly unknown: string;
  readonly value: JsonObject;
}

/** A line that is no event of the dialect. */
export interface RejectedEvent {
  readonly outcome: "rejected";
  /** At least one. */
  readonly issues: readonly DecodeIssue[];
}

/** A line that belongs to the file's own form, such as a header: no event, and nothing wrong. */
export interface SkippedLine {
  readonly outcome: "skipped";
}

/** What became of one line. */
export type Decoded<E> = DecodedEvent<E> | UnknownEvent | RejectedEvent | SkippedLine;

/** The stream that an event belongs to, and the one above it, by names that are unique in a file. */
export interface StreamKey {
  readonly stream: string;
  /** The parent run's stream, where this event names it. */
  readonly parent?: string;
  /** The thread or session that this line names, where lines of one stream need not name theirs. */
  readonly part?: string;
}

/** What is understood of a line whose type is not: whose it is, and when it was written. */
export interface Activity {
  readonly envelope: LineEnvelope;
  readonly streamKey: StreamKey;
}

/**
 * One runtime's wire: how a line is told from other runtimes' lines, decoded and checked.
 *
 * @typeParam E the runtime's event.
 */
export interface Dialect<E> {
  /** What users call it, for example `entelix`. */
  readonly name: string;
  /**
   * The lines of a source stand in the order of their events: where an envelope has no sequence, the
   * line's number is one. Default: they need not.
   */
  readonly inOrder?: boolean;
  /** Whether a line is surely of this vocabulary. It need not be valid. Must be cheap and pure. */
  looksLike(value: JsonObject): boolean;
  /** Checks a line. Never throws; the event in the result is the given object where it can be. */
  decode(value: JsonObject): Decoded<E>;
  /**
   * A line of an unknown type as a sign of life: the run that it is of is not silent. Never throws.
   *
   * @param tenant of the line's sender, where the line itself names none.
   * @returns `undefined` where the line does not say so much.
   */
  activityOf?(value: JsonObject, tenant: string | undefined): Activity | undefined;
  /** Where a decoded event belongs. Asked for events that open a run, and where times are equal. */
  streamKey(event: E, envelope: LineEnvelope): StreamKey;
  /**
   * A name that tells streams apart, and their parts: for counts, since two streams may have one. Asked for every event:
   * names are not joined for it.
   */
  streamName(event: E, envelope: LineEnvelope): string;
}
