import type { FailureKindId, FailureOrigin } from "../../events/door.ts";

// What upstream's kinds have no place for. Every field but the time and the outcome is left out where
// nobody said it. Upstream's readers know none of these kinds.

/** A run started, or its next segment did. */
export interface RunStarted {
  readonly kind: "entelix.run_started";
  readonly agent?: string | undefined;
  /** The run that dispatched it. */
  readonly parent_run_id?: string | undefined;
  /** The parent's tool call that dispatched it. */
  readonly parent_tool_use_id?: string | undefined;
  /** The agent that handed control to this one. */
  readonly handoff_from?: string | undefined;
  /** The interrupted run that it continues. */
  readonly resumed_from_run_id?: string | undefined;
  /** Number of the segment. Left out for 1. */
  readonly segment?: number | undefined;
  /** Personal data: whose run it is. */
  readonly user_id?: string | undefined;
  readonly session_id?: string | undefined;
  /** Content: the newest message of the user, at most 64 KiB of JSON. */
  readonly input?: unknown;
  /** Fields whose values were above the limit of a row, and so were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** A run ended. An `abandoned` run has no such entry, because its end is unknown. */
export interface RunEnded {
  readonly kind: "entelix.run_ended";
  readonly outcome: "complete" | "failed" | "refused" | "interrupted";
  /** Of `failed`. */
  readonly failure_kind?: FailureKindId | (string & {}) | undefined;
  /** Of `failed`: where the failure arose. */
  readonly origin?: FailureOrigin | (string & {}) | undefined;
  /** Of `tool_error_terminal`: the tool that ended the run. */
  readonly tool_name?: string | undefined;
  /** Own tool calls since the start or the last resumption, denied ones included. */
  readonly tool_calls?: number | undefined;
  /** How many of them failed. */
  readonly tool_errors?: number | undefined;
  readonly approved_calls?: number | undefined;
  readonly denied_calls?: number | undefined;
  /** Of `complete`: the tools whose last call failed, at most 8. Absent where none did. */
  readonly degraded?: readonly string[] | undefined;
  /** The shape of the loop that its tool calls were in: `repeat`, `ping_pong`, `poll`. Absent without one. */
  readonly loop?: "repeat" | "ping_pong" | "poll" | (string & {}) | undefined;
  /** Content: what the run was asked, where its sender says so at the end alone. */
  readonly input?: unknown;
  /** Fields whose values were above the limit of a row, and so were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** Somebody decided about a tool call. */
export interface ToolCallDecided {
  readonly kind: "entelix.tool_call_decided";
  readonly tool_use_id: string;
  readonly name: string;
  /**
   * `edited`: approved with another input, which the `tool_call` has. `answered`: a person gave the
   * result, and the tool was not called.
   */
  readonly decision: "approved" | "denied" | "edited" | "answered";
  /** A person, or a rule of the program. */
  readonly by?: "user" | "policy" | undefined;
  /** Personal data: name or ID of the person. */
  readonly person?: string | undefined;
  /** Content: why. */
  readonly reason?: string | undefined;
  /** How long the decision took, in ms. */
  readonly wait_ms?: number | undefined;
  /** Content: the input before a person edited it. */
  readonly proposed_input?: unknown;
  /** Fields whose values were above the limit of a row, and so were cut. */
  readonly cut?: readonly string[] | undefined;
  /** When it happened: RFC 3339 in UTC. */
  readonly timestamp: string;
}

/** An entry of one of this package's own kinds, tagged by `kind`. */
export type OwnGraphEvent = RunStarted | RunEnded | ToolCallDecided;

/** The tag of an {@link OwnGraphEvent}. */
export type OwnGraphEventKind = OwnGraphEvent["kind"];
