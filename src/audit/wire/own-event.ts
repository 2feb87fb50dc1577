import type { FailureKindId, FailureOrigin } from "../../events/door.ts";

// Entries for which entelix has no kind. entelix's readers do not know them. Every field except the time and the
// outcome is left out if its value is unknown.

/** A run started, or continued with its next segment. */
export interface RunStarted {
  readonly kind: "entelix.run_started";
  readonly agent?: string | undefined;
  /** The run that dispatched it. */
  readonly parent_run_id?: string | undefined;
  /** The parent's tool call that dispatched it. */
  readonly parent_tool_use_id?: string | undefined;
  /** The agent that handed control to this one. */
  readonly handoff_from?: string | undefined;
  /** The interrupted run that this one continues. */
  readonly resumed_from_run_id?: string | undefined;
  /** Number of the segment. Left out for 1. */
  readonly segment?: number | undefined;
  /** Personal data: the user of the run. */
  readonly user_id?: string | undefined;
  readonly session_id?: string | undefined;
  /** Content: the newest message of the user, at most 64 KiB of JSON. */
  readonly input?: unknown;
  /** Fields whose values exceeded the limit of a row and were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** Tokens and cost of a run. A figure that its source does not report is absent. */
export interface RowUsage {
  /** Model requests. */
  readonly requests?: number;
  readonly input_tokens?: number | bigint;
  readonly output_tokens?: number | bigint;
  readonly tool_calls?: number;
  /** US dollars as a decimal text with all its digits. */
  readonly cost_usd?: string;
  /** A part of the input tokens. */
  readonly cache_read_input_tokens?: number | bigint;
  /** A part of the input tokens. */
  readonly cache_write_input_tokens?: number | bigint;
}

/** A run ended. An `abandoned` run has no such entry, because its end is unknown. */
export interface RunEnded {
  readonly kind: "entelix.run_ended";
  readonly outcome: "complete" | "failed" | "refused" | "interrupted";
  /** Only for `failed`. */
  readonly failure_kind?: FailureKindId | (string & {}) | undefined;
  /** Only for `failed`: the origin of the failure. */
  readonly origin?: FailureOrigin | (string & {}) | undefined;
  /** Only for `tool_error_terminal`: the tool that ended the run. */
  readonly tool_name?: string | undefined;
  /** Own tool calls since the start or the last resumption, including denied ones. */
  readonly tool_calls?: number | undefined;
  /** How many of them failed. */
  readonly tool_errors?: number | undefined;
  readonly approved_calls?: number | undefined;
  readonly denied_calls?: number | undefined;
  /** Only for `complete`: the tools whose last call failed, at most 8. Absent if none did. */
  readonly degraded?: readonly string[] | undefined;
  /** The shape of the loop of its tool calls: `repeat`, `ping_pong`, `poll`. Absent without a loop. */
  readonly loop?: "repeat" | "ping_pong" | "poll" | (string & {}) | undefined;
  /**
   * What the run and its sub-agents used, for any outcome. A run shares its budget with its sub-agents, so a child's
   * figures contain its parent's: add up root runs only.
   */
  readonly usage?: RowUsage | undefined;
  /** Content: the input of the run, if its sender reports it only at the end. */
  readonly input?: unknown;
  /** Fields whose values exceeded the limit of a row and were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** A tool call was approved, denied, edited or answered. */
export interface ToolCallDecided {
  readonly kind: "entelix.tool_call_decided";
  readonly tool_use_id: string;
  readonly name: string;
  /**
   * `edited`: approved with another input, which is in the `tool_call`. `answered`: a person gave the result, and the
   * tool was not called.
   */
  readonly decision: "approved" | "denied" | "edited" | "answered";
  /** A person, or a rule of the program. */
  readonly by?: "user" | "policy" | undefined;
  /** Personal data: name or ID of the person. */
  readonly person?: string | undefined;
  /** Content: the reason. */
  readonly reason?: string | undefined;
  /** How long the decision took, in ms. */
  readonly wait_ms?: number | undefined;
  /** Content: the input before a person edited it. */
  readonly proposed_input?: unknown;
  /** Fields whose values exceeded the limit of a row and were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** An entry of one of this package's own kinds, tagged by `kind`. */
export type OwnGraphEvent = RunStarted | RunEnded | ToolCallDecided;

/** The tag of an {@link OwnGraphEvent}. */
export type OwnGraphEventKind = OwnGraphEvent["kind"];
