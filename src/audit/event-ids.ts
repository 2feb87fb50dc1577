import {
  type AgentEvent,
  canonicalRunId,
  type EventEnvelope,
  hashedUuid,
  type Instant,
  isText,
  MOST_NAME,
  RecentMap,
} from "../events/door.ts";
import type { EventFacts } from "./event-rows.ts";
import type { ThreadHints } from "./run-threads.ts";
import type { KnownGraphEvent } from "./wire/graph-event.ts";

/** Longest ID of an event. Rows append a word to it. */
const MOST_ID = MOST_NAME - 16;

/** IDs remembered, at least, to distinguish equal events. Equal events come close together. */
const REMEMBERED = 10_000;

/** The ID of an event, and its properties. */
export interface EventId {
  readonly event_id: string | undefined;
  /** The event was sent without an ID. This one was derived for its rows. */
  readonly unnamed: boolean;
  /** No other event can have this ID. */
  readonly is_new: boolean;
}

/**
 * The IDs of events, including those sent without one. Their rows have the same IDs live, in a replay of their
 * recording, and when they are sent again to another process.
 *
 * A derived ID contains tenant, run, type, tool call and time, and how many such events came before. It contains no
 * random value, and no clock of this process unless the event has no other time.
 */
export class EventIds {
  readonly #namesRows: boolean;
  readonly #counts = new RecentMap<number>(REMEMBERED);

  /** @param namesRows whether the log makes IDs for rows of events without one. */
  constructor(namesRows: boolean) {
    this.#namesRows = namesRows;
  }

  /**
   * @param at the time of the event.
   * @param again the event is a redelivery. Then it counts as the first of its kind.
   */
  of(
    event: AgentEvent,
    at: Readonly<Instant>,
    { clocked = false, details, event_id }: EventRefs,
    again: boolean,
  ): EventId {
    const added = details?.recorder?.event_id_added === true;
    // Untyped programs may send any value. A log accepts no longer IDs, and no other types.
    const given = isText(event_id) && event_id !== "" && event_id.length <= MOST_ID;
    if (given && !added) return { event_id, unnamed: false, is_new: false };
    if (this.#namesRows && !added) return { event_id: undefined, unnamed: false, is_new: false };
    const is_new = clocked && !added;
    return { event_id: this.#made(event, at, is_new || again), unnamed: true, is_new };
  }

  #made(event: AgentEvent, at: Readonly<Instant>, isFirst: boolean): string {
    const { run_id, tenant_id, type } = event;
    const call = "tool_use_id" in event ? `${event.tool_use_id}\0${event.tool}` : "";
    const run = canonicalRunId(run_id);
    const text = `event\0${tenant_id}\0${run}\0${type}\0${at[0]}.${at[1]}\0${call}`;
    const first = hashedUuid(text);
    if (isFirst) return first;
    const before = this.#counts.get(first) ?? 0;
    this.#counts.set(first, before + 1);
    return before === 0 ? first : hashedUuid(`${text}\0${before}`);
  }
}

/** Data beside an event, for the rows of an `AuditSink`. */
export interface EventRefs extends ThreadHints, EventFacts {
  /** Default: derived from run, type, tool call and time of the event. */
  readonly event_id?: string | undefined;
  /** The interrupted run that a `started` continues. */
  readonly resumed_from_run_id?: string | undefined;
  /** The parent's call that dispatched a `started` run. */
  readonly parent_tool_use_id?: string | null | undefined;
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
  /**
   * Whether the event came without a time, so that a clock of this process was read. Then no other event can have its
   * ID.
   */
  readonly clocked?: boolean | undefined;
}

/** The fields of an envelope that rows need. Span IDs are not taken from it, since the sender may not choose them. */
export function refsOf(
  envelope: EventEnvelope | null | undefined,
  span?: Pick<EventRefs, "trace_id" | "span_id">,
): EventRefs {
  // Untyped programs may send `null`.
  const given = envelope ?? undefined;
  const details = given?.details;
  // Field by field: spreading an object costs more than the rest of this function. A missing field is set, too, so
  // that none is found in a prototype that other code changed.
  return {
    clocked: given?.timestamp === undefined && details?.happened_at === undefined,
    default_thread_id: undefined,
    details,
    event_id: given?.event_id,
    parent_tool_use_id: given?.parent_tool_use_id,
    resumed_from_run_id: given?.resumed_from_run_id,
    root_run_id: given?.root_run_id,
    session_id: given?.session_id,
    span_id: span?.span_id,
    thread_id: given?.thread_id,
    trace_id: span?.trace_id,
  };
}

/** A segment of a run. Rows with derived IDs belong to one. */
export interface RowSegment {
  readonly tenantId: string;
  readonly runId: string;
  /** From 1. */
  readonly segment: number;
}

/**
 * The ID of a row that both a call of the runtime and an event may write, so that the log keeps only the first. It is
 * a UUID, which stores remember in little memory.
 *
 * @param call the tool call of the row. Empty for a row about the run.
 */
export function derivedRowId(of: RowSegment, kind: string, call = ""): string {
  const run = canonicalRunId(of.runId);
  return hashedUuid(`row\0${of.tenantId}\0${run}\0${of.segment}\0${kind}\0${call}`);
}

/**
 * The derived ID of a row whose kind a segment has once: its pause, its resumption, its failure. `undefined` for
 * other kinds.
 */
export function idInSegment(of: RowSegment, event: KnownGraphEvent): string | undefined {
  switch (event.kind) {
    case "interrupt": {
      const { interruption_kind: kind } = event;
      // Several calls may wait for approval at the same time.
      const call = kind?.type === "approval_pending" ? kind.tool_use_id : "";
      return derivedRowId(of, event.kind, call);
    }
    case "resumed":
    case "cancelled":
    case "usage_limit_exceeded":
    case "tool_error_terminal":
    case "error":
      return derivedRowId(of, event.kind);
    default:
      return undefined;
  }
}
