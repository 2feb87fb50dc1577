import type { AgentError } from "./agent-error.ts";
import type { ToolErrorKind } from "./error-kinds.ts";

/**
 * Why a run paused. A pause is not a failure.
 *
 * In Rust: `InterruptionKind` of entelix-core, tagged by `type`.
 */
export type InterruptionKind =
  | { readonly type: "custom" }
  | { readonly type: "approval_pending"; readonly tool_use_id: string }
  | {
      readonly type: "scheduled_pause";
      readonly phase: "before" | "after";
      readonly node: string;
    };

/**
 * The budget axis that exceeded its limit, with the limit and the observed value.
 *
 * In Rust: `UsageLimitBreach` of entelix-core, tagged by `axis`.
 */
export type BudgetBreach =
  | {
      readonly axis: "requests" | "input_tokens" | "output_tokens" | "total_tokens" | "tool_calls";
      readonly limit: number | bigint;
      readonly observed: number | bigint;
    }
  | { readonly axis: "cost_usd"; readonly limit: string; readonly observed: string };

/**
 * The limit that a run exceeded: an axis of its budget, or this package's own axis `tool_loop` for repeated tool
 * calls. See `RunOptions.onLoop`.
 */
export type UsageLimitBreach =
  | BudgetBreach
  | { readonly axis: "tool_loop"; readonly limit: number; readonly observed: number };

/** How a call to a provider failed: with an HTTP status, or without an answer. */
export type ProviderDetail =
  | {
      readonly type: "provider";
      readonly kind: "http";
      /** 400 to 599. Any other status is not a final answer, and so a `network` failure. */
      readonly status: number;
      readonly message: string;
      /** Milliseconds the provider asked to wait before a retry. */
      readonly retryAfterMs?: number;
    }
  | {
      readonly type: "provider";
      readonly kind: "network" | "tls" | "dns";
      readonly message: string;
      /** Milliseconds the provider asked to wait before a retry. */
      readonly retryAfterMs?: number;
    };

/** How a credential failed. */
export type AuthDetail =
  | {
      readonly type: "auth";
      readonly kind: "missing";
      /** Where the credential was looked for, such as `env:API_KEY`. */
      readonly source?: string;
    }
  | { readonly type: "auth"; readonly kind: "refused"; readonly message: string }
  | { readonly type: "auth"; readonly kind: "expired"; readonly message?: string }
  | { readonly type: "auth"; readonly kind: "source_unreachable"; readonly message: string };

/**
 * The kind of an `AgentError` with its fields, tagged by `type`.
 *
 * In Rust: the variants of `Error` in entelix-core.
 */
export type AgentErrorDetail =
  | ProviderDetail
  | AuthDetail
  /** The model is asked to answer again. `hint` is text written for the model. */
  | { readonly type: "model_retry"; readonly hint: string; readonly attempt: number }
  /** The caller's input is invalid. `message` is shown to the model. */
  | { readonly type: "invalid_request"; readonly message: string }
  | { readonly type: "config"; readonly message: string }
  /** JSON could not be read or written. */
  | { readonly type: "serde"; readonly message: string }
  | { readonly type: "cancelled" }
  | { readonly type: "deadline_exceeded" }
  /** A pause for a human: not a failure. `payload` is content. */
  | { readonly type: "interrupted"; readonly kind: InterruptionKind; readonly payload: unknown }
  | { readonly type: "usage_limit_exceeded"; readonly breach: UsageLimitBreach }
  /** A tool error that ends the run. `kind` is the class of `source` at the wrapping site. */
  | {
      readonly type: "tool_error_terminal";
      readonly kind: ToolErrorKind;
      readonly toolName: string;
      readonly source: AgentError;
    };

/** The operator's text of a detail: equal to entelix's `Display`. */
export function detailText(detail: AgentErrorDetail): string {
  switch (detail.type) {
    case "provider": {
      const failure = detail.kind === "http" ? `returned ${detail.status}` : detail.kind;
      return `provider ${failure}: ${detail.message}`;
    }
    case "auth":
      return `auth: ${authMessage(detail)}`;
    case "model_retry":
      return `model retry requested (attempt ${detail.attempt})`;
    case "invalid_request":
      return `invalid request: ${detail.message}`;
    case "config":
      return `config error: ${detail.message}`;
    case "serde":
      return detail.message;
    case "cancelled":
      return "operation cancelled";
    case "deadline_exceeded":
      return "deadline exceeded";
    case "interrupted":
      return "dispatch interrupted for human review";
    case "usage_limit_exceeded": {
      const { axis, observed, limit } = detail.breach;
      return `run budget exceeded on ${axis} axis: observed ${observed}, limit ${limit}`;
    }
    case "tool_error_terminal":
      return `tool ${detail.toolName} terminal (${detail.kind}): ${detail.source.message}`;
  }
}

function authMessage(detail: AuthDetail): string {
  switch (detail.kind) {
    case "missing": {
      const source = detail.source === undefined ? "" : ` (source: ${detail.source})`;
      return `no credential available${source}`;
    }
    case "refused":
      return `credential refused: ${detail.message}`;
    case "expired":
      return detail.message === undefined
        ? "credential expired"
        : `credential expired: ${detail.message}`;
    case "source_unreachable":
      return `credential source unreachable: ${detail.message}`;
  }
}
