import { checkArgument } from "../option-checks.ts";
import type { UsageLimitBreach } from "./agent-error-detail.ts";
import type { FailureOrigin } from "./failure-source.ts";

/**
 * The failure kind of a run: a closed set that alerts and dashboards group by.
 *
 * In Rust: `FailureKind` of entelix-agents. Its wire ID is the value of `entelix.failure.kind`.
 */
export type FailureKind =
  | {
      readonly type: "tool_error_terminal";
      /** Class of the tool error that ended the run. */
      readonly kind: ToolErrorKind;
      /** The tool that failed, at the outermost wrapper. */
      readonly tool_name: string;
    }
  | { readonly type: "usage_limit_exceeded" }
  | { readonly type: "cancelled" }
  | { readonly type: "deadline_exceeded" }
  | { readonly type: "model_dispatch" }
  | { readonly type: "internal" }
  | { readonly type: "unclassified" };

/** The wire ID of a {@link FailureKind}: the value of `entelix.failure.kind`. */
export type FailureKindId = FailureKind["type"];

/** Every wire ID, in entelix's order. */
export const FAILURE_KIND_IDS = [
  "tool_error_terminal",
  "usage_limit_exceeded",
  "cancelled",
  "deadline_exceeded",
  "model_dispatch",
  "internal",
  "unclassified",
] as const satisfies readonly FailureKindId[];

/** The value of `entelix.failure.kind` for a failure. */
export function wireId(kind: FailureKind): FailureKindId {
  checkArgument(kind, "kind");
  return kind.type;
}

/**
 * The kind of a tool call's error, coarse enough to decide whether to page, alert or ignore.
 *
 * In Rust: `ToolErrorKind` of entelix-core. It is the value of the span attributes `error.type` and
 * `entelix.tool.error_kind`.
 */
export type ToolErrorKind =
  | "transient"
  | "rate_limit"
  | "quota"
  | "auth"
  | "permanent"
  | "validation"
  | "internal";

/** Every {@link ToolErrorKind}, in entelix's order. */
export const TOOL_ERROR_KINDS = [
  "transient",
  "rate_limit",
  "quota",
  "auth",
  "permanent",
  "validation",
  "internal",
] as const satisfies readonly ToolErrorKind[];

/** Who must act on an error: the caller (`client`) or the operator (`server`). */
export type WireClass = "client" | "server";

/**
 * The machine-readable side of an error, beside the operator's text.
 *
 * In Rust: `ErrorEnvelope` of entelix-core. On the wire, optional fields are absent, never `null`.
 */
export interface ErrorEnvelope {
  /** Stable code such as `rate_limited` or `interrupted`. New codes may appear. */
  readonly wire_code: string;
  readonly wire_class: WireClass;
  /** Whole seconds to wait before a retry, truncated; `bigint` beyond 2^53. */
  readonly retry_after_secs?: number | bigint;
  /** HTTP status of the provider, if there was one. */
  readonly provider_status?: number;
  /**
   * Where the failure arose: `model`, `tool` or `run`. Absent if the sender does not know it, as with Rust agents.
   * This package's own field.
   */
  readonly origin?: FailureOrigin;
  /**
   * The tool call was cancelled by the user, a deadline, or the end of its run. It does not count as a failure of the
   * tool. This package's own field, only for `tool_error`.
   */
  readonly cancelled?: boolean;
  /** The limit of the budget that was reached. This package's own field, only for `quota_exceeded`. */
  readonly breach?: UsageLimitBreach;
}

const WIRE_WORD = /^[a-z]{1,32}(?:_[a-z]{1,32}){0,7}$/;

/**
 * A wire code, reason or failure kind, also of a newer agent. `undefined` for a longer text or one with other
 * characters: it may be a vendor's text, which is for operators and only allowed on spans.
 */
export function wireWord(given: unknown): string | undefined {
  return typeof given === "string" && WIRE_WORD.test(given) ? given : undefined;
}
