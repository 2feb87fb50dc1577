import type { EventEnvelope } from "../events/door.ts";
import type { ThreadHints } from "./run-threads.ts";
import type { EventFacts } from "./signal-rows.ts";

/** Data beside an event, for the rows of an `AuditSink`. */
export interface RecordRefs extends ThreadHints, EventFacts {
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
  span?: Pick<RecordRefs, "trace_id" | "span_id">,
): RecordRefs {
  // Untyped programs may send `null`.
  if (envelope === undefined || envelope === null) {
    return { clocked: true, span_id: span?.span_id, trace_id: span?.trace_id };
  }
  const { details, event_id, root_run_id, session_id, thread_id } = envelope;
  const { parent_tool_use_id, resumed_from_run_id } = envelope;
  return {
    clocked: envelope.timestamp === undefined && details?.happened_at === undefined,
    details,
    event_id,
    parent_tool_use_id,
    resumed_from_run_id,
    root_run_id,
    session_id,
    // Field by field: spreading an object costs more than the rest of this function.
    span_id: span?.span_id,
    thread_id,
    trace_id: span?.trace_id,
  };
}
