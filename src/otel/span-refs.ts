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
