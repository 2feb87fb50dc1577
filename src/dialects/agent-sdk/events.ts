import type { JsonValue } from "../../events/exact-json.ts";
import type {
  ContentBlock,
  Count,
  TerminalReason,
  TokenUsage,
  ToolResult,
  ToolTier,
  WireDuration,
} from "./values.ts";

interface Emitted {
  /** The durable task that made the event (0.13 and later, in a server). */
  readonly emitter_task_id?: string | null;
}

interface Threaded {
  readonly thread_id: string;
}

interface ToolScoped {
  /** The model's id of the call. */
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
}

/** A turn begins: the model is about to be called. */
export interface Start extends Threaded, Emitted {
  readonly type: "start";
  /** From 1 in each run; a server's worker may count on. */
  readonly turn: Count;
}

/** A prompt was admitted. Only servers send it, before the `start`. */
export interface UserInput extends Threaded, Emitted {
  readonly type: "user_input";
  readonly content: readonly ContentBlock[];
}

/** The whole of a thinking block. */
export interface Thinking extends Emitted {
  readonly type: "thinking";
  readonly message_id: string;
  readonly text: string;
}

export interface ThinkingDelta extends Emitted {
  readonly type: "thinking_delta";
  readonly message_id: string;
  readonly delta: string;
}

export interface TextDelta extends Emitted {
  readonly type: "text_delta";
  readonly message_id: string;
  readonly delta: string;
}

/** The whole of a text block. */
export interface Text extends Emitted {
  readonly type: "text";
  readonly message_id: string;
  readonly text: string;
}

export interface ToolCallStart extends ToolScoped {
  readonly type: "tool_call_start";
  readonly input: JsonValue;
  readonly tier: ToolTier;
}

export interface ToolCallEnd extends ToolScoped {
  readonly type: "tool_call_end";
  readonly result: ToolResult;
}

export interface ToolProgress extends ToolScoped {
  readonly type: "tool_progress";
  readonly stage: string;
  readonly message: string;
  readonly data?: JsonValue;
}

/** The run waits for a human; its last event until somebody answers. */
export interface ToolRequiresConfirmation extends ToolScoped {
  readonly type: "tool_requires_confirmation";
  readonly input: JsonValue;
  readonly description: string;
}

/** A model round-trip and the tools it asked for are over. */
export interface TurnComplete extends Emitted {
  readonly type: "turn_complete";
  readonly turn: Count;
  readonly usage: TokenUsage;
}

interface Ended extends Threaded, Emitted {
  readonly total_turns: Count;
  readonly total_usage: TokenUsage;
  /** Up to 0.9. */
  readonly duration?: WireDuration;
  /** From 0.10 on. */
  readonly duration_ms?: WireDuration;
  readonly estimated_cost_usd?: number | bigint | null;
}

/** Terminal: the run completed. */
export interface Done extends Ended {
  readonly type: "done";
}

/** Terminal, from 0.12 on: the budget is used up. */
export interface BudgetExceeded extends Ended {
  readonly type: "budget_exceeded";
  /** `total_tokens` or `cost_usd`; newer agents may name others. */
  readonly limit: string;
}

/** Terminal, unless it is recoverable and more follows. */
export interface ErrorEvent extends Emitted {
  readonly type: "error";
  readonly message: string;
  readonly recoverable: boolean;
  readonly reason?: TerminalReason | null;
}

export interface AutoRetryStart {
  readonly type: "auto_retry_start";
  readonly attempt: Count;
  /** 2^32 - 1: it waits for the connection, without end. */
  readonly max_attempts: Count;
  readonly delay_ms: Count;
  readonly error_message: string;
}

export interface AutoRetryEnd {
  readonly type: "auto_retry_end";
  readonly attempt: Count;
  readonly success: boolean;
  readonly final_error?: string | null;
}

/** Terminal: the model declined. */
export interface Refusal {
  readonly type: "refusal";
  readonly message_id: string;
  readonly text?: string | null;
}

/** Terminal. */
export interface Cancelled extends Emitted {
  readonly type: "cancelled";
  /** The turn that was reached. */
  readonly turn: Count;
  readonly usage: TokenUsage;
  readonly reason?: TerminalReason | null;
}

/** Message counts and estimated tokens, before and after. */
export interface ContextCompacted {
  readonly type: "context_compacted";
  readonly original_count: Count;
  readonly new_count: Count;
  readonly original_tokens: Count;
  readonly new_tokens: Count;
}

export interface SubagentProgress {
  readonly type: "subagent_progress";
  /** Upstream's comment says the id of the spawning call; its code writes `<name>_<hex nanoseconds>`. */
  readonly subagent_id: string;
  readonly subagent_name: string;
  readonly nickname?: string | null;
  readonly child_thread_id?: string | null;
  readonly child_root_task_id?: string | null;
  readonly subagent_task_id?: string | null;
  readonly max_turns?: Count | null;
  readonly current_turn?: Count | null;
  readonly model?: string | null;
  readonly tool_name: string;
  readonly tool_context: string;
  readonly completed: boolean;
  readonly success: boolean;
  readonly tool_count: Count;
  readonly total_tokens: Count;
}

/** From 0.14 on. */
export interface ThreadCreated extends Threaded {
  readonly type: "thread_created";
  /** The thread that it was forked from. */
  readonly source_thread_id?: string | null;
}

/** The run is parked until a human answers; from 0.14 on. */
export interface QuestionAsked {
  readonly type: "question_asked";
  readonly task_id: string;
  readonly questions: readonly JsonValue[];
}

/** The model was reached with another account; from 0.17 on. */
export interface AccountRotation {
  readonly type: "account_rotation";
  readonly provider: string;
  readonly from_account: string;
  readonly to_account: string;
  readonly reason: string;
  readonly retry_after_seconds?: Count | null;
}

/** No account is left for now; from 0.17 on. */
export interface AccountPoolExhausted {
  readonly type: "account_pool_exhausted";
  readonly provider: string;
  readonly account_count: Count;
  readonly reason: string;
  readonly retry_after_seconds?: Count | null;
}

/**
 * One event of an agent-sdk agent, tagged by `type`, its fields named as on the wire: a decoded line
 * *is* the event, with all that this version does not know.
 *
 * Upstream: `AgentEvent` of agent-sdk-foundation, 0.9 to 0.18.
 */
export type AgentSdkEvent =
  | Start
  | UserInput
  | Thinking
  | ThinkingDelta
  | TextDelta
  | Text
  | ToolCallStart
  | ToolCallEnd
  | ToolProgress
  | ToolRequiresConfirmation
  | TurnComplete
  | Done
  | ErrorEvent
  | AutoRetryStart
  | AutoRetryEnd
  | Refusal
  | Cancelled
  | ContextCompacted
  | SubagentProgress
  | BudgetExceeded
  | ThreadCreated
  | QuestionAsked
  | AccountRotation
  | AccountPoolExhausted;

/** The tag of an {@link AgentSdkEvent}. */
export type AgentSdkEventType = AgentSdkEvent["type"];
