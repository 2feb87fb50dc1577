import type { CurrentRun } from "../../runtime/current-run.ts";
import type { AgentEventSink } from "../../sinks/agent-event-sink.ts";
import type { InsidePlace } from "../../sinks/context-carrier.ts";
import type { Place } from "./place.ts";

/** The span that the code of a call belongs into, and the run that is current in it. */
export interface SpanPlace {
  readonly run: CurrentRun;
  readonly span: Pick<InsidePlace, "tool_use_id" | "model_call_id">;
}

export function spanPlaceOf(sink: AgentEventSink, place: Place | undefined): SpanPlace | undefined {
  if (place === undefined || place.kind === "refused" || place.run.ended) return undefined;
  const { run, toolUseId } = place;
  const current: CurrentRun = {
    tenantId: run.tenant,
    runId: run.id,
    rootRunId: run.rootId,
    threadId: run.threadId,
    toolUseId,
    sink,
  };
  const span = place.kind === "model" ? { model_call_id: place.id } : { tool_use_id: toolUseId };
  return { run: current, span };
}
