import type { InterruptionKind } from "./errors/agent-error-detail.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "./errors/error-kinds.ts";
import type { RenderedForLlm } from "./errors/llm-text.ts";
import type { ModelEvent } from "./model-event.ts";
import { checkArgument } from "./option-checks.ts";
import type { StepEvent } from "./step-event.ts";

interface RunScoped {
  /** The run ID: a UUID v7 from entelix, but any non-empty text is accepted. */
  readonly run_id: string;
  readonly tenant_id: string;
}

interface ToolScoped extends RunScoped {
  /** Not unique: IDs repeat across runs and inside one, and may be empty. */
  readonly tool_use_id: string;
  readonly tool: string;
}

/** A run started. Every sink must accept it: an error of a sink at this event stops the run. */
export interface Started extends RunScoped {
  readonly type: "started";
  readonly parent_run_id?: string | null;
  readonly agent: string;
}

/** A tool call was dispatched (before its schema check). It may never end. */
export interface ToolStart extends ToolScoped {
  readonly type: "tool_start";
  readonly tool_version?: string | null;
  /** Content: JSON that the policy layer has already redacted. */
  readonly input: unknown;
}

/** A tool call that returned. */
export interface ToolComplete extends ToolScoped {
  readonly type: "tool_complete";
  readonly tool_version?: string | null;
  /** Whole milliseconds as the tool layer measured them; may be 0. */
  readonly duration_ms: number | bigint;
  /** Content. */
  readonly output: unknown;
}

/** A tool call that failed, or, with the wire code `interrupted`, that paused its run. */
export interface ToolError extends ToolScoped {
  readonly type: "tool_error";
  readonly tool_version?: string | null;
  /** Operator text for spans and logs, never for the model or the audit log. */
  readonly error: string;
  /** Model text. The audit log gets no other error text. */
  readonly error_for_llm: RenderedForLlm;
  readonly envelope: ErrorEnvelope;
  /** Absent from 0.5.x agents. Then it is derived from the envelope. */
  readonly kind?: ToolErrorKind;
  readonly duration_ms: number | bigint;
}

/**
 * A call waits for a decision: its run waits until the call is approved, denied, started or ended. This package's
 * own; no Rust agent sends it. Decisions that take less than a second need none.
 *
 * @example
 * await sink.send({ type: "tool_call_asked", run_id, tenant_id, tool_use_id: "c1", tool: "pay" });
 */
export interface ToolCallAsked extends ToolScoped {
  readonly type: "tool_call_asked";
}

/** A call that waited for approval may continue. Its `tool_start` follows. */
export interface ToolCallApproved extends ToolScoped {
  readonly type: "tool_call_approved";
}

/** A denied call has no `tool_start`. */
export interface ToolCallDenied extends ToolScoped {
  readonly type: "tool_call_denied";
  /** Content. */
  readonly reason: string;
}

/**
 * The run finished. Every sink must accept it: the caller gets an error of a sink at this event.
 */
export interface Complete<S = unknown> extends RunScoped {
  readonly type: "complete";
  /** The agent's final state: content. */
  readonly state: S;
  /** `null` if the run had no budget. */
  readonly usage?: UsageSnapshot | null;
}

/** The run failed. Errors of a sink at this event are ignored: the caller gets the run's error. */
export interface Failed extends RunScoped {
  readonly type: "failed";
  /** Operator text. */
  readonly error: string;
  readonly envelope: ErrorEnvelope;
  /** Absent from 0.5.x agents. Then it is derived from the envelope. */
  readonly kind?: FailureKind;
}

/** The run paused: the end of a segment, not a failure. 0.5.x agents report it as `failed`. */
export interface Interrupted extends RunScoped {
  readonly type: "interrupted";
  readonly kind: InterruptionKind;
  /** Content. */
  readonly payload: unknown;
}

/**
 * One lifecycle event of an entelix agent, tagged by `type`. Its fields are named as on the wire, so a decoded line
 * *is* the event.
 *
 * It covers both shapes: entelix-agents 0.6.x, and 0.5.x (without `interrupted`, and without `kind`
 * on `failed` and `tool_error`). The model and step events and `tool_call_asked` are this package's own; no
 * Rust agent sends them.
 *
 * @typeParam S the agent's state, carried by `complete`.
 */
export type AgentEvent<S = unknown> =
  | Started
  | ToolStart
  | ToolComplete
  | ToolError
  | ToolCallAsked
  | ToolCallApproved
  | ToolCallDenied
  | Complete<S>
  | Failed
  | Interrupted
  | ModelEvent
  | StepEvent;

/** The tag of an {@link AgentEvent}. */
export type AgentEventType = AgentEvent["type"];

/** Every event type of entelix's agents. */
export const AGENT_EVENT_TYPES = [
  "started",
  "tool_start",
  "tool_complete",
  "tool_error",
  "tool_call_approved",
  "tool_call_denied",
  "complete",
  "failed",
  "interrupted",
] as const satisfies readonly AgentEventType[];

/**
 * The event with the state of `complete` replaced by `null`. Other events are unchanged.
 *
 * In Rust: `StateErasureSink` does the same, so that sinks need not know the agent's state type.
 */
export function eraseState(event: AgentEvent): AgentEvent<null> {
  checkArgument(event, "event");
  return event.type === "complete" ? { ...event, state: null } : event;
}

/**
 * A run's usage of its budget at its end.
 *
 * A run shares its budget with all its sub-agents, so a child's figures contain its parent's. In Rust:
 * `UsageSnapshot` of entelix-core.
 */
export interface UsageSnapshot {
  /** Model requests made. */
  readonly requests: number;
  /** Tokens; `bigint` beyond 2^53. */
  readonly input_tokens: number | bigint;
  /** Tokens; `bigint` beyond 2^53. */
  readonly output_tokens: number | bigint;
  readonly tool_calls: number;
  /**
   * US dollars as a decimal string. The scale is kept: `"0.30"` is not `"0.3"`. Absent or `null`: unknown. `"0"` is
   * also unknown, unless `details.cost_known` is set.
   */
  readonly cost_usd?: string | null;
  /** Input tokens that were read from the prompt cache. They are part of the input tokens. No Rust agent sends them. */
  readonly cache_read_input_tokens?: number | bigint | null;
  /**
   * Input tokens that were written to the prompt cache. They are part of the input tokens. No Rust agent sends them.
   */
  readonly cache_write_input_tokens?: number | bigint | null;
}

/**
 * One text for a tenant and a name of that tenant, such as a run ID. Different pairs have different texts. A
 * separator would not be enough, because both may contain it.
 */
export function tenantKey(tenantId: string, name: string): string {
  // Untyped programs may omit the tenant.
  const tenant = String(tenantId);
  return `${tenant.length}:${tenant}${name}`;
}
