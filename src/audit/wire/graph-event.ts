import type { BudgetBreach, InterruptionKind, ToolErrorKind } from "../../events/door.ts";
import type { ContentPart, ProviderEcho, ToolResultContent } from "./content-part.ts";
import type { OwnGraphEvent } from "./own-event.ts";

interface Timed {
  /** This package's own field: fields whose values exceeded the limit of a row and were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC, as chrono writes it (0, 3, 6 or 9 sub-second digits). */
  readonly timestamp: string;
}

export interface UserMessage extends Timed {
  readonly kind: "user_message";
  readonly content: readonly ContentPart[];
}

export interface AssistantMessage extends Timed {
  readonly kind: "assistant_message";
  readonly content: readonly ContentPart[];
  /** Written as `null` if the provider reported none. */
  readonly usage?: ModelUsage | null;
}

/** A compaction trimmed the working messages. */
export interface ContextCompacted extends Timed {
  readonly kind: "context_compacted";
  /** Characters removed or summarised away. */
  readonly dropped_chars: number | bigint;
  /** Characters that remain. */
  readonly retained_chars: number | bigint;
}

/** A tool was dispatched. */
export interface ToolCall extends Timed {
  readonly kind: "tool_call";
  /** The tool-use id that the result repeats; may be empty. */
  readonly id: string;
  readonly name: string;
  /** Any JSON. */
  readonly input: unknown;
}

/** A dispatched tool returned. */
export interface ToolResult extends Timed {
  readonly kind: "tool_result";
  readonly tool_use_id: string;
  readonly name: string;
  /** The output, or the text that the model received instead. */
  readonly content: ToolResultContent;
  readonly is_error: boolean;
  /** This package's own field: the call was cancelled, which does not count as a failure of the tool. */
  readonly cancelled?: boolean | undefined;
  /** This package's own field: the text that the model received is unknown, and `content` is empty. */
  readonly model_text?: "unknown" | undefined;
}

export interface BranchCreated extends Timed {
  readonly kind: "branch_created";
  /** Thread id of the branch. */
  readonly branch_id: string;
  /** Index, from 0, of the event at which it branched off. */
  readonly parent_event: number | bigint;
}

/** Ties this position in the log to a stored checkpoint. */
export interface CheckpointMarker extends Timed {
  readonly kind: "checkpoint_marker";
  readonly checkpoint_id: string;
  readonly thread_id: string;
}

export interface Warning extends Timed {
  readonly kind: "warning";
  readonly warning: ModelWarning;
}

/** A streamed piece of the model's thinking. */
export interface ThinkingDelta extends Timed {
  readonly kind: "thinking_delta";
  readonly text: string;
  /** Left out if empty. */
  readonly provider_echoes?: readonly ProviderEcho[];
}

export interface RateLimit extends Timed {
  readonly kind: "rate_limit";
  readonly snapshot: RateLimitSnapshot;
}

/** The run paused for the host application. */
export interface Interrupt extends Timed {
  readonly kind: "interrupt";
  /** Absent in entries of entelix 0.5. */
  readonly interruption_kind?: InterruptionKind | null | undefined;
  /** Any JSON: the content shown to the person. `null` if the kind is enough. */
  readonly payload: unknown;
}

export interface Cancelled extends Timed {
  readonly kind: "cancelled";
  readonly reason: string;
}

/** A sub-agent was dispatched. Its own log is the thread `sub_thread_id`. */
export interface SubAgentInvoked extends Timed {
  readonly kind: "sub_agent_invoked";
  readonly agent_id: string;
  readonly sub_thread_id: string;
}

/** A supervisor passed control on inside one conversation. */
export interface AgentHandoff extends Timed {
  readonly kind: "agent_handoff";
  /** Written as `null` on the first turn. */
  readonly from?: string | null;
  readonly to: string;
}

/** A run continued from a checkpoint. */
export interface Resumed extends Timed {
  readonly kind: "resumed";
  /** Empty if it resumed from a fresh state. */
  readonly from_checkpoint: string;
}

/** A memory tier was queried. The hits are not stored. */
export interface MemoryRecall extends Timed {
  readonly kind: "memory_recall";
  readonly tier: string;
  readonly namespace_key: string;
  readonly hits: number | bigint;
}

export interface UsageLimitExceeded extends Timed {
  readonly kind: "usage_limit_exceeded";
  readonly breach: BudgetBreach;
}

/** A tool's error ended the run without another model call. */
export interface ToolErrorTerminal extends Timed {
  readonly kind: "tool_error_terminal";
  readonly error_kind: ToolErrorKind;
  readonly tool_name: string;
}

/** A failure of model, tool or graph, recovered from or not. */
export interface ErrorRecorded extends Timed {
  readonly kind: "error";
  /** Coarse class such as `provider` or `invalid_request`. */
  readonly class: string;
  readonly message: string;
}

/**
 * One entry of a session's audit log, tagged by `kind`, its fields named as on the wire.
 *
 * In Rust: `GraphEvent` of entelix-session 0.6.1, all 19 variants.
 */
export type GraphEvent =
  | UserMessage
  | AssistantMessage
  | ContextCompacted
  | ToolCall
  | ToolResult
  | BranchCreated
  | CheckpointMarker
  | Warning
  | ThinkingDelta
  | RateLimit
  | Interrupt
  | Cancelled
  | SubAgentInvoked
  | AgentHandoff
  | Resumed
  | MemoryRecall
  | UsageLimitExceeded
  | ToolErrorTerminal
  | ErrorRecorded;

/** The tag of a {@link GraphEvent}. */
export type GraphEventKind = GraphEvent["kind"];

/** An entry of a kind that this version does not know, unchanged. */
export interface UnknownGraphEvent {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** An entry whose fields are known: one of entelix's kinds, or of this package's own. */
export type KnownGraphEvent = GraphEvent | OwnGraphEvent;

/** Any entry of a log. `isGraphEvent` and `isOwnGraphEvent` tell them apart. */
export type AnyGraphEvent = KnownGraphEvent | UnknownGraphEvent;

/**
 * A value that a model codec could not convert exactly. In Rust: `ModelWarning` of entelix-core, tagged by `kind`
 * inside the `warning` field of the event.
 */
export type ModelWarning =
  | { readonly kind: "lossy_encode"; readonly field: string; readonly detail: string }
  | { readonly kind: "unknown_stop_reason"; readonly raw: string }
  | {
      readonly kind: "unsupported_capability";
      readonly capability: string;
      readonly detail: string;
    }
  | { readonly kind: "provider_extension_ignored"; readonly vendor: string };

/**
 * A provider's rate limits, from its response headers.
 *
 * In Rust: `RateLimitSnapshot` of entelix-core. A value that the provider did not send is written as `null`.
 */
export interface RateLimitSnapshot {
  readonly requests_remaining?: number | bigint | null;
  readonly tokens_remaining?: number | bigint | null;
  /** RFC 3339. */
  readonly requests_reset_at?: string | null;
  /** RFC 3339. */
  readonly tokens_reset_at?: string | null;
  /** The headers from which it was read. Default none. */
  readonly raw?: Readonly<Record<string, string>>;
}

/**
 * A category of a vendor's safety filter. In Rust: `SafetyCategory` of entelix-core, tagged by `kind`. A category
 * that entelix does not name has the vendor's name in `raw`.
 */
export type SafetyCategory =
  | { readonly kind: "harassment" }
  | { readonly kind: "hate_speech" }
  | { readonly kind: "sexually_explicit" }
  | { readonly kind: "dangerous_content" }
  | { readonly kind: "other"; readonly raw: string };

/** Severity of a safety category. */
export type SafetyLevel = "negligible" | "low" | "medium" | "high";

/** One rating of a vendor's safety filter. */
export interface SafetyRating {
  readonly category: SafetyCategory;
  readonly level: SafetyLevel;
}

/**
 * The tokens of one model call, as reported by the vendor. Each count is below 2^32.
 *
 * The budget of a run is `UsageSnapshot`. In Rust: `Usage` of entelix-core. Optional fields are written with their
 * default.
 */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Read from the prompt cache. Default 0. */
  readonly cached_input_tokens?: number;
  /** Written to the prompt cache. Default 0. */
  readonly cache_creation_input_tokens?: number;
  /** Default 0. */
  readonly reasoning_tokens?: number;
  /** Default none. */
  readonly safety_ratings?: readonly SafetyRating[];
}
