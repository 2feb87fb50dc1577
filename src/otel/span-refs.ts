import type { AgentEvent } from "../events/agent-event.ts";
import type { Run } from "../lifecycle/run.ts";
import type { SpanHandle } from "./span-handle.ts";

export interface SpanRefs {
  readonly trace_id: string;
  /** Absent where a foreign id generator gave the span of a closed call its id. */
  readonly span_id?: string;
}

/** What a row needs of a call: its span while that is open, and the id that is derived for it. */
export interface CallSpan {
  readonly handle?: SpanHandle | undefined;
  readonly spanId: string;
}

/** The ids on the span of a run, or of one of its calls. */
export function spanRefs(run: Run<SpanHandle>, call?: CallSpan | undefined): SpanRefs {
  const own = run.handle?.recorded ? run.handle.spanContext : undefined;
  const trace_id = own?.traceId ?? run.traceId;
  if (call === undefined) return { trace_id, span_id: own?.spanId ?? run.spanId };
  const open = call.handle?.spanContext.spanId;
  if (open !== undefined) return { trace_id, span_id: open };
  const foreign = own !== undefined && own.spanId !== run.spanId;
  if (foreign) return { trace_id };
  return { trace_id, span_id: call.spanId };
}

/** The call that an event which opened and closed none is about. */
export function callIn(run: Run<SpanHandle>, event: AgentEvent): CallSpan | undefined {
  if (!("tool_use_id" in event)) return undefined;
  const id = event.tool_use_id;
  const last = run.history.last(id);
  if (last !== undefined || event.type === "tool_start") return last;
  // Of a run that is over only the numbers of its calls are kept.
  const occurrence = run.history.occurrences(id);
  return occurrence === 0 ? undefined : { spanId: run.ids.childSpanId("t", id, occurrence) };
}
