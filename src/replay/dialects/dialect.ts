import type { EventEnvelope, Instant, JsonValue } from "../../events/door.ts";

/** One parsed line. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** Whether a JSON value is an object, not an array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A problem with one field of a line. */
export interface DecodeIssue {
  /** Path of the field, such as `envelope.wire_code`. */
  readonly field: string;
  /** The expected value. Completes "expected …". */
  readonly expected: string;
}

/** The envelope of a line. `timestamp` is required: no clock gives the time of a recorded event. */
export interface LineEnvelope extends EventEnvelope {
  readonly timestamp: Readonly<Instant>;
  /** Tenant of the event, if the runtime's own events name none. */
  readonly tenant_id?: string;
}

/** Order of events with equal times in a stream without sequences: lower ranks come first. */
export const EVENT_RANK = {
  runOpens: 0,
  decision: 1,
  callOpens: 2,
  note: 3,
  callCloses: 4,
  runCloses: 5,
} as const;

/** A rank from 0 (opens a run) to 5 (closes it). */
export type EventRank = (typeof EVENT_RANK)[keyof typeof EVENT_RANK];

/** A checked event with the envelope of its line. */
export interface DecodedEvent<E> {
  readonly outcome: "event";
  readonly event: E;
  readonly envelope: LineEnvelope;
  readonly rank: EventRank;
  /**
   * Values outside a closed set, such as `kind.type=brand_new`. Each is replaced in `event` by the set's value for
   * "unknown". Usually empty.
   */
  readonly unknownValues: readonly string[];
}

/** An event of an unknown type. It is counted and passed on. */
export interface UnknownEvent {
  readonly outcome: "unknown";
  /** The event's type. */
  readonly unknown: string;
  readonly value: JsonObject;
}

/** A line that the dialect cannot read. */
export interface RejectedEvent {
  readonly outcome: "rejected";
  /** At least one. */
  readonly issues: readonly DecodeIssue[];
}

/** A valid line without an event, such as a file header. */
export interface SkippedLine {
  readonly outcome: "skipped";
}

/** The result of decoding one line. */
export type Decoded<E> = DecodedEvent<E> | UnknownEvent | RejectedEvent | SkippedLine;

/** The stream of an event, and its parent stream. The names are unique in a file. */
export interface StreamKey {
  readonly stream: string;
  /** The parent run's stream, if this event names it. */
  readonly parent?: string;
  /** The thread or session that this line names. Other lines of the stream may name none. */
  readonly part?: string;
}

/** The readable part of a line of an unknown type: its stream and time. */
export interface Activity {
  readonly envelope: LineEnvelope;
  readonly streamKey: StreamKey;
}

/**
 * The wire format of one runtime: recognises, decodes and checks its lines.
 *
 * @typeParam E the runtime's event.
 */
export interface Dialect<E> {
  /** Name for users, such as `entelix`. */
  readonly name: string;
  /**
   * Whether the lines of a source are in the order of their events. The line number then replaces a missing sequence.
   * Default false.
   */
  readonly inOrder?: boolean;
  /** Whether a line certainly belongs to this dialect; it need not be valid. Must be cheap and pure. */
  looksLike(value: JsonObject): boolean;
  /** Checks a line. Never throws. The event in the result is the given object if no value was replaced. */
  decode(value: JsonObject): Decoded<E>;
  /**
   * The activity of a run that a line of an unknown type shows. Never throws.
   *
   * @param tenant tenant of the sender, for lines that name none.
   * @returns `undefined` if the line does not name its run or time.
   */
  activityOf?(value: JsonObject, tenant: string | undefined): Activity | undefined;
  /** The stream of an event. Called for events that open a run, and if times are equal. */
  streamKey(event: E, envelope: LineEnvelope): StreamKey;
  /**
   * Name of the event's stream and part, for counts. Two streams may share a name. It is called for every event, so it
   * must not join strings.
   */
  streamName(event: E, envelope: LineEnvelope): string;
}
