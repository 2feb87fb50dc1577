import { type RecordRefs, refsOf } from "../audit/door.ts";
import type { AgentEvent, EventEnvelope } from "../events/door.ts";
import type { Run } from "./lifecycle/run.ts";
import { type CallSpan, callIn, type SpanHandle, spanRefs } from "./spans/span-handle.ts";

/** What rows say of an event beside itself: its envelope's IDs, and the span that it stands on. */
export function rowRefs(
  event: AgentEvent,
  envelope: EventEnvelope | undefined,
  run: Run<SpanHandle> | undefined,
  call: CallSpan | undefined,
): RecordRefs {
  const ids = run && spanRefs(run, call ?? callOf(run, event));
  return refsOf(envelope, ids);
}

/** An approval comes before its call: a call of this ID that is known is an earlier one. */
function callOf(run: Run<SpanHandle>, event: AgentEvent): CallSpan | undefined {
  return event.type === "tool_call_approved" ? undefined : callIn(run, event);
}
