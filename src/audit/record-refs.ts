import type { EventEnvelope } from "../events/event-envelope.ts";
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
}

/** What an envelope says of rows, and no more of it: ids of spans are not the sender's to name. */
export function refsOf(envelope: EventEnvelope | null | undefined): RecordRefs {
  // Programs without types give `null` for none.
  if (envelope === undefined || envelope === null) return {};
  const { details, event_id, root_run_id, session_id, thread_id } = envelope;
  const { parent_tool_use_id, resumed_from_run_id } = envelope;
  return {
    details,
    event_id,
    parent_tool_use_id,
    resumed_from_run_id,
    root_run_id,
    session_id,
    thread_id,
  };
}
