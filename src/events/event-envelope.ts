import { now } from "./clock.ts";
import type { EventDetails } from "./event-details.ts";
import { formatRfc3339, type Instant, isSpanTime, parseRfc3339 } from "./instant.ts";
import { checkWhole } from "./option-checks.ts";

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
/** Length of a `traceparent` of version 00. Later versions may be longer. */
const TRACEPARENT_LENGTH = 55;

/**
 * Metadata of an event that the event itself lacks: time, IDs and parents.
 *
 * On the wire it is flat, in one object with the event's own fields, as in agent-sdk-foundation. Every field is
 * optional. Without an envelope, a live sink reads the clock once, on entry.
 */
export interface EventEnvelope {
  /** Identifies redelivered events. An event with a known ID is counted and ignored. */
  readonly event_id?: string | undefined;
  /** Orders the events of one stream. It restarts for each run, so it gives no order between parent and child. */
  readonly sequence?: number | bigint | undefined;
  /**
   * Time of the event: RFC 3339 text, or an {@link Instant} once decoded. An invalid time, or one outside 1970 to
   * 2262, counts as missing.
   */
  readonly timestamp?: string | Readonly<Instant> | undefined;
  /** Conversation of the run: `gen_ai.conversation.id`, and the key of the audit log. */
  readonly thread_id?: string | undefined;
  readonly session_id?: string | undefined;
  /**
   * The run at the top of the tree. With it, a child joins its trace even if its parent was never seen.
   */
  readonly root_run_id?: string | undefined;
  /** The interrupted run that this run continues. */
  readonly resumed_from_run_id?: string | undefined;
  /**
   * Tool-use ID of the parent's call that started this run. `null`: it was started outside a call. Absent: unknown.
   */
  readonly parent_tool_use_id?: string | null | undefined;
  /** W3C trace context to continue. Used from trusted senders only. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Further data of the sender: users, decisions, steps, exceptions. */
  readonly details?: EventDetails | undefined;
}

/**
 * Counts the sequence numbers of one stream: 0, 1, 2 …, or from an offset.
 *
 * @example
 * const counter = new SequenceCounter();
 * sink.send(event, { sequence: counter.next() });
 */
export class SequenceCounter {
  #next: number;

  /** @param offset the first number. Default 0. */
  constructor(offset = 0) {
    checkWhole(offset, "offset");
    this.#next = offset;
  }

  /** The next number. */
  next(): number {
    const value = this.#next;
    this.#next = value + 1;
    return value;
  }
}

/**
 * The time of an event by its envelope: `details.happened_at`, else `timestamp`. Either is RFC 3339 text or an {@link
 * Instant}. `undefined` if there is none, it cannot be read, or no span can have it, such as the year 1 of a clock
 * that was never set. The result is a copy, which spans keep. Never throws.
 */
export function readEventTime(envelope: EventEnvelope | null): Instant | undefined {
  try {
    return timeIn(envelope?.details?.happened_at) ?? timeIn(envelope?.timestamp);
  } catch {
    return undefined;
  }
}

function timeIn(given: unknown): Instant | undefined {
  if (given === undefined) return undefined;
  const at = typeof given === "string" ? parseRfc3339(given) : instantIn(given);
  return at !== undefined && isSpanTime(at) ? at : undefined;
}

function instantIn(given: unknown): Instant | undefined {
  if (!Array.isArray(given)) return undefined;
  const seconds: unknown = given[0];
  const nanos: unknown = given[1];
  return isSeconds(seconds) && isNanos(nanos) ? [seconds, nanos] : undefined;
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isNanos(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1e9;
}

/**
 * The envelope of an event that waited and is sent now. Readers order a recording by its `timestamp`s, and its audit
 * rows must have the same order as live.
 */
export function sentLater<
  E extends EventEnvelope & { readonly timestamp: string | Readonly<Instant> },
>(envelope: E): E {
  const { timestamp } = envelope;
  const happened_at = typeof timestamp === "string" ? timestamp : formatRfc3339(timestamp);
  return { ...envelope, timestamp: now(), details: { ...envelope.details, happened_at } };
}

/** Whether the value is a W3C `traceparent`. */
export function isTraceparent(value: unknown): value is string {
  return (
    typeof value === "string" &&
    TRACEPARENT.test(value) &&
    (value.length === TRACEPARENT_LENGTH || !value.startsWith("00"))
  );
}
