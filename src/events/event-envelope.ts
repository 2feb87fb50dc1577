import { now } from "./clock.ts";
import type { EventDetails } from "./event-details.ts";
import { type Instant, isSpanTime } from "./instant.ts";
import { checkWhole } from "./option-checks.ts";
import { formatRfc3339, parseRfc3339 } from "./rfc3339.ts";

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
/** Length of a `traceparent` of version 00; later ones may have more behind. */
const TRACEPARENT_LENGTH = 55;

/**
 * Metadata of an event: time, IDs and parents that the event itself lacks.
 *
 * On the wire it is flat, in one object with the event's own fields, as agent-sdk-foundation has
 * it. Every field is optional; a live sink without an envelope reads the clock once, on entry.
 */
export interface EventEnvelope {
  /** Identifies redelivered events: an event with a known ID is counted and ignored. */
  readonly event_id?: string | undefined;
  /** Orders the events of one stream. It restarts per run: no order between parent and child. */
  readonly sequence?: number | bigint | undefined;
  /**
   * Time of the event: RFC 3339 text, or an {@link Instant} once decoded. An invalid time, or one
   * outside 1970 to 2262, is treated as missing.
   */
  readonly timestamp?: string | Readonly<Instant> | undefined;
  /** Conversation the run belongs to: `gen_ai.conversation.id`, and the key of the audit log. */
  readonly thread_id?: string | undefined;
  readonly session_id?: string | undefined;
  /**
   * The run at the top of the tree. With it, a child joins its trace even if the parent was never
   * seen.
   */
  readonly root_run_id?: string | undefined;
  /** Evidence that this run continues an interrupted one. */
  readonly resumed_from_run_id?: string | undefined;
  /**
   * Tool-use ID of the parent's call that started this run. `null`: it was started outside a call.
   * Left out: not known.
   */
  readonly parent_tool_use_id?: string | null | undefined;
  /** W3C trace context to continue; honoured from trusted senders only. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** What the sender knows beyond the event's fields: users, decisions, steps, exceptions. */
  readonly details?: EventDetails | undefined;
}

/**
 * Hands out the sequence numbers of one stream: 0, 1, 2 … or on from an offset.
 *
 * @example
 * const counter = new SequenceCounter();
 * sink.send(event, { sequence: counter.next() });
 */
export class SequenceCounter {
  #next: number;

  /** @param offset first number to hand out. Default 0. */
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
 * When an event happened by its envelope, given as RFC 3339 text or as an {@link Instant}: by
 * `details.happened_at`, else by `timestamp`. `undefined` when it gives none, none that can be read, or
 * one that no span can have, such as the year 1 of a clock that nobody has set. The result is a copy:
 * spans keep it. Never throws, whatever the envelope does.
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
 * The envelope of an event that has waited, and is sent now. A recording is read in the order of the
 * `timestamp`s, and its audit rows must come in the order in which they came live.
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
