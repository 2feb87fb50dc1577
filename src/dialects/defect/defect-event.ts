import type { JsonValue } from "../../events/exact-json.ts";
import type { JsonObject } from "../dialect.ts";

/** A block of a prompt or of model output, as the Agent Client Protocol has it, tagged by `type`. */
export type AcpContentBlock = JsonObject & { readonly type: string };

/** Kinds of tools of the Agent Client Protocol. */
export const ACP_TOOL_KINDS = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
] as const;

/** States of a tool call of the Agent Client Protocol. */
export const ACP_TOOL_STATUSES = ["pending", "in_progress", "completed", "failed"] as const;

/** Why a turn ended, of those that this version knows. */
export const STOP_REASONS = [
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
] as const;

export type StopReason = (typeof STOP_REASONS)[number];

/** Kinds of the answers that a permission request offers. */
export const PERMISSION_OPTION_KINDS = [
  "allow_once",
  "allow_always",
  "reject_once",
  "reject_always",
] as const;

/**
 * What is new of a tool call. Upstream: `ToolCallUpdateFields` of the Agent Client Protocol, the one
 * type here whose fields are in camelCase. What is not set is left out; `null` is as good as absent.
 */
export interface ToolCallFields {
  /** One of {@link ACP_TOOL_KINDS}, or what a newer agent added. */
  readonly kind?: string | null;
  /** One of {@link ACP_TOOL_STATUSES}, or what a newer agent added. */
  readonly status?: string | null;
  readonly title?: string | null;
  /** Output for people, tagged by `type`: `content`, `diff`, `terminal`. */
  readonly content?: readonly JsonObject[] | null;
  readonly locations?: readonly JsonObject[] | null;
  /** Any JSON. */
  readonly rawInput?: JsonValue;
  /** Any JSON. */
  readonly rawOutput?: JsonValue;
}

/** Tokens as the provider counted them; `bigint` beyond 2^53, `null` where it did not say. */
export interface DefectUsage {
  readonly input_tokens?: number | bigint | null;
  readonly output_tokens?: number | bigint | null;
  readonly cache_read_input_tokens?: number | bigint | null;
  readonly cache_creation_input_tokens?: number | bigint | null;
}

/** One answer that a permission request offers. */
export interface PermissionOption {
  readonly id: string;
  readonly name: string;
  /** One of {@link PERMISSION_OPTION_KINDS}, or what a newer agent added. */
  readonly kind: string;
  readonly allows: boolean;
}

/** What the policy said of a call. Asking without options denies. */
export type PolicyVerdict =
  | { readonly kind: "allow" }
  | { readonly kind: "deny" }
  | { readonly kind: "ask"; readonly options: readonly PermissionOption[] }
  /** What a newer agent added. */
  | { readonly kind: "unknown" };

/** How a permission request ended. */
export type PermissionOutcome =
  | { readonly kind: "selected"; readonly option_id: string }
  | { readonly kind: "cancelled" }
  /** What a newer agent added. */
  | { readonly kind: "unknown" };

export interface TurnStarted {
  readonly type: "turn_started";
}

/** Comes before `turn_started`; a turn that a background agent's result starts has one too. */
export interface UserPromptCommitted {
  readonly type: "user_prompt_committed";
  readonly content: readonly AcpContentBlock[];
}

export interface TurnEnded {
  readonly type: "turn_ended";
  /** One of {@link STOP_REASONS}, or what a newer agent added. */
  readonly reason: string;
  /** Of the turn's own model calls, without those of its sub-agents. */
  readonly usage?: DefectUsage | null;
}

/** The turn failed and was taken back out of the history. There is no `turn_ended` then. */
export interface TurnAborted {
  readonly type: "turn_aborted";
}

/** A streamed piece of the answer. */
export interface AssistantText {
  readonly type: "assistant_text";
  readonly content: AcpContentBlock;
}

/** A streamed piece of the model's thinking. */
export interface AssistantThought {
  readonly type: "assistant_thought";
  readonly content: AcpContentBlock;
}

/** A call begins; or, with status `failed` for a call that is open, it was denied. */
export interface ToolCallStarted {
  readonly type: "tool_call_started";
  readonly id: string;
  /** Empty in the second start of a denied call of older versions. */
  readonly name: string;
  readonly fields: ToolCallFields;
}

export interface ToolCallProgress {
  readonly type: "tool_call_progress";
  readonly id: string;
  readonly fields: ToolCallFields;
}

export interface ToolCallFinished {
  readonly type: "tool_call_finished";
  readonly id: string;
  readonly fields: ToolCallFields;
}

export interface PolicyDecision {
  readonly type: "policy_decision";
  readonly id: string;
  readonly decision: PolicyVerdict;
}

export interface PermissionResolved {
  readonly type: "permission_resolved";
  readonly id: string;
  readonly outcome: PermissionOutcome;
}

/** One attempt at a model call; `attempt` counts from 1. */
export interface LlmCallStarted {
  readonly type: "llm_call_started";
  readonly model: string;
  readonly attempt: number;
}

/** The end of an attempt. It does not come when the stream breaks or the turn is cancelled. */
export interface LlmCallFinished {
  readonly type: "llm_call_finished";
  readonly model: string;
  readonly attempt: number;
  readonly usage?: DefectUsage | null;
  readonly error?: string | null;
}

/** The context was summarised. It may come outside a turn. */
export interface ContextCompressed {
  readonly type: "context_compressed";
  readonly tokens_before: number | bigint;
  readonly tokens_after: number | bigint;
}

/** Old tool results were cleared out of the context. */
export interface ContextMicrocompacted {
  readonly type: "context_microcompacted";
  readonly tokens_before: number | bigint;
  readonly tokens_after: number | bigint;
  /** Results that were cleared. */
  readonly cleared: number | bigint;
}

/** An event of a session itself, or of a sub-agent. */
export type LeafEvent =
  | TurnStarted
  | UserPromptCommitted
  | TurnEnded
  | TurnAborted
  | AssistantText
  | AssistantThought
  | ToolCallStarted
  | ToolCallProgress
  | ToolCallFinished
  | PolicyDecision
  | PermissionResolved
  | LlmCallStarted
  | LlmCallFinished
  | ContextCompressed
  | ContextMicrocompacted;

/** An event of a sub-agent, told by the session that runs it; without ancestors, of the session itself. */
export interface Subagent {
  readonly type: "subagent";
  /** Ids of the spawning calls, from the session's own down; none: the session's own turn. */
  readonly ancestor_path: readonly string[];
  readonly agent_type: string;
  readonly inner: LeafEvent;
}

/**
 * What defect-agent says of a session, tagged by `type`; fields named as on the wire.
 *
 * Upstream: `AgentEvent` of defect-agent 0.1.0-alpha.6. Its events have no time, session or id of
 * their own; those come with the envelope.
 */
export type DefectEvent = LeafEvent | Subagent;

/** The tag of a {@link DefectEvent}. */
export type DefectEventType = DefectEvent["type"];

/** Every event type that this version knows. */
export const DEFECT_EVENT_TYPES = [
  "turn_started",
  "user_prompt_committed",
  "turn_ended",
  "turn_aborted",
  "assistant_text",
  "assistant_thought",
  "tool_call_started",
  "tool_call_progress",
  "tool_call_finished",
  "policy_decision",
  "permission_resolved",
  "llm_call_started",
  "llm_call_finished",
  "context_compressed",
  "context_microcompacted",
  "subagent",
] as const satisfies readonly DefectEventType[];
