import type { RunEnvelope } from "./event-line.ts";
import type { RunPlan } from "./run-options.ts";

/** What every event of a run says of its place, so that none of them needs another to be placed. */
export function envelopeFor({
  rootRunId,
  threadId,
  parent,
  isInside,
  resumedFromRunId,
}: RunPlan<unknown>): RunEnvelope {
  const { traceparent, tracestate } = parent ?? {};
  // Here it is known, also that it is none; in another process it may just not have been said.
  const toolUseId = isInside ? (parent?.toolUseId ?? null) : parent?.toolUseId;
  return {
    root_run_id: rootRunId,
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    ...(toolUseId === undefined ? {} : { parent_tool_use_id: toolUseId }),
    ...(resumedFromRunId === undefined ? {} : { resumed_from_run_id: resumedFromRunId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
}
