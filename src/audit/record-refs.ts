import type { EventEnvelope } from "../events/door.ts";
import type { ThreadHints } from "./run-threads.ts";
import type { EventFacts } from "./signal-rows.ts";

/** What is known beside an event that a `record` of an `AuditSink` is made of. */
export interface RecordRefs extends ThreadHints, EventFacts {
  /** Default: made of run, type, tool call and time of the event. */
  readonly event_id?: string | undefined;
  /** The interrupted run that a `started` continues. */
  readonly resumed_from_run_id?: string | undefined;
  /** The call of its parent that dispatched a `started` run. */
  readonly parent_tool_use_id?: string | null | undefined;
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
  /** Whether the event came without a time, and a clock of this process was read: no other event can have its ID. */
  readonly clocked?: boolean | undefined;
}

/** What an envelope says of rows, and no more of it: ids of spans are not the sender's to name. */
export function refsOf(
  envelope: EventEnvelope | null | undefined,
  span?: Pick<RecordRefs, "trace_id" | "span_id">,
): RecordRefs {
  // Programs without types give `null` for none.
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
    // By name: to spread an object costs more than all else here.
    span_id: span?.span_id,
    thread_id,
    trace_id: span?.trace_id,
  };
}
