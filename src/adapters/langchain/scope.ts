import type { CurrentRun } from "../../runtime/current-run.ts";
import type { AgentEventSink, SpanTarget } from "../../sinks/agent-event-sink.ts";
import type { RunState } from "./run-state.ts";

interface InRun {
  /** LangChain's id of what made the place; chains inside share it under ids of their own. */
  readonly id: string;
  readonly run: RunState;
  /** The tool call that is open there. */
  readonly toolUseId: string | undefined;
}

/** A run: what is below belongs to it. */
export interface RunPlace extends InRun {
  readonly kind: "run";
}

/** A tool call that is open. */
export interface ToolPlace extends InRun {
  readonly kind: "tool";
  readonly toolUseId: string;
  readonly tool: string;
  readonly startedMs: number;
  /** Whether the run was made for this call, which had none around it. */
  readonly alone: boolean;
}

/** A model call that is open. */
export interface ModelPlace extends InRun {
  readonly kind: "model";
  readonly model: string | undefined;
  readonly startedMs: number;
  firstMs: number | undefined;
  readonly alone: boolean;
}

/** A run of something else, or a tool call that something else tells of. */
export interface ForeignPlace extends InRun {
  readonly kind: "foreign";
}

/** What nothing may be told of: its tenant is not known, so neither is that of anything below. */
export interface RefusedPlace {
  readonly kind: "refused";
  readonly id: string;
}

/** Where a call of LangChain's stands. */
export type Place = RunPlace | ToolPlace | ModelPlace | ForeignPlace | RefusedPlace;

/** The span that the code of a call belongs into, and the run that is current in it. */
export interface SpanPlace {
  readonly run: CurrentRun;
  readonly span: Pick<SpanTarget, "tool_use_id" | "model_call_id">;
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
