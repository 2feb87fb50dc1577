import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "../../../src/index.ts";

/** A way in which a run fails, and the alert that reports each one. */
export interface FailureWay {
  readonly alert: string;
  readonly kind: FailureKind;
  readonly envelope: ErrorEnvelope;
  /** The tool whose error ends the run. */
  readonly tool?: { readonly name: string; readonly error: ToolErrorKind };
}

/** What fails now and then where nothing is wrong. */
export const FAILURES = {
  model: {
    alert: "EntelixModelDispatchFailed",
    kind: { type: "model_dispatch" },
    envelope: { wire_code: "upstream_unavailable", wire_class: "server", origin: "model" },
  },
  tool: {
    alert: "EntelixToolUnavailable",
    kind: { type: "tool_error_terminal", kind: "transient", tool_name: "search" },
    envelope: { wire_code: "transport_failure", wire_class: "server", origin: "tool" },
    tool: { name: "search", error: "transient" },
  },
  rate: {
    alert: "EntelixToolRateLimited",
    kind: { type: "tool_error_terminal", kind: "rate_limit", tool_name: "crm" },
    envelope: {
      wire_code: "rate_limited",
      wire_class: "client",
      origin: "tool",
      provider_status: 429,
    },
    tool: { name: "crm", error: "rate_limit" },
  },
  deadline: {
    alert: "EntelixDeadlineExceeded",
    kind: { type: "deadline_exceeded" },
    envelope: { wire_code: "deadline_exceeded", wire_class: "client", origin: "run" },
  },
  cancelled: {
    alert: "EntelixRunCancelled",
    kind: { type: "cancelled" },
    envelope: { wire_code: "cancelled", wire_class: "client", origin: "run" },
  },
  budget: {
    alert: "EntelixUsageLimitExceeded",
    kind: { type: "usage_limit_exceeded" },
    envelope: { wire_code: "quota_exceeded", wire_class: "client", origin: "run" },
  },
  internal: {
    alert: "EntelixRunFailedInternal",
    kind: { type: "internal" },
    envelope: { wire_code: "internal", wire_class: "server", origin: "run" },
  },
} as const satisfies Record<string, FailureWay>;

export type FailureName = keyof typeof FAILURES;
