import type { CurrentRun } from "../../runtime/current-run.ts";
import type { AgentEventSink, SpanTarget } from "../../sinks/agent-event-sink.ts";
import type { RunState } from "./run-state.ts";

interface InRun {
  /** LangChain's id of what opened the scope; chains inside share it under ids of their own. */
  readonly id: string;
  readonly run: RunState;
  /** The tool call that is open there. */
  readonly toolUseId: string | undefined;
}

/** A run: what is below belongs to it. */
export interface RunScope extends InRun {
  readonly kind: "run";
}

/** A tool call that is open. */
export interface ToolScope extends InRun {
  readonly kind: "tool";
  readonly toolUseId: string;
  readonly tool: string;
  readonly startedMs: number;
  /** Whether the run was made for this call, which had none around it. */
  readonly alone: boolean;
}

/** A model call that is open. */
export interface ModelScope extends InRun {
  readonly kind: "model";
  readonly model: string | undefined;
  readonly startedMs: number;
  firstMs: number | undefined;
  readonly alone: boolean;
}

/** A run of something else, or a tool call that something else tells of. */
export interface ForeignScope extends InRun {
  readonly kind: "foreign";
}

/** What nothing may be told of: its tenant is not known, so neither is that of anything below. */
export interface RefusedScope {
  readonly kind: "refused";
  readonly id: string;
}

/** Where a call of LangChain's stands. */
export type Scope = RunScope | ToolScope | ModelScope | ForeignScope | RefusedScope;

/** The span that the code of a call belongs into, and the run that is current in it. */
export interface SpanScope {
  readonly run: CurrentRun;
  readonly span: Pick<SpanTarget, "tool_use_id" | "model_call_id">;
}

export function spanScopeOf(sink: AgentEventSink, scope: Scope | undefined): SpanScope | undefined {
  if (scope === undefined || scope.kind === "refused" || scope.run.ended) return undefined;
  const { run, toolUseId } = scope;
  const current: CurrentRun = {
    tenantId: run.tenant,
    runId: run.id,
    rootRunId: run.rootId,
    threadId: run.threadId,
    toolUseId,
    sink,
  };
  const span = scope.kind === "model" ? { model_call_id: scope.id } : { tool_use_id: toolUseId };
  return { run: current, span };
}
