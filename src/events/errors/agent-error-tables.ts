import { checkArgument } from "../option-checks.ts";
import type { AgentErrorDetail } from "./agent-error-detail.ts";
import type {
  ErrorEnvelope,
  FailureKind,
  FailureKindId,
  ToolErrorKind,
  WireClass,
} from "./error-kinds.ts";

/** The envelope of a thrown value that matches no class. */
export const UNCLASSIFIED_ENVELOPE: ErrorEnvelope = Object.freeze({
  wire_code: "unclassified",
  wire_class: "server",
});

interface WireRow {
  readonly wireClass: WireClass;
  /** An envelope does not say whether an error is terminal, so no row has that kind. */
  readonly failure: Exclude<FailureKindId, "tool_error_terminal">;
  readonly tool: ToolErrorKind | ((envelope: ErrorEnvelope) => ToolErrorKind);
}

function modelDispatch(wireClass: WireClass, tool: WireRow["tool"]): WireRow {
  return { wireClass, failure: "model_dispatch", tool };
}

/**
 * Every wire code of entelix with its class, failure kind and tool error kind.
 *
 * An error has exactly one wire code. entelix's two classifiers make no distinction that the envelope lacks. So this
 * one table classifies live errors and recorded envelopes.
 */
const WIRE = {
  invalid_request: { wireClass: "client", failure: "internal", tool: "validation" },
  config_error: { wireClass: "server", failure: "internal", tool: "internal" },
  serde: { wireClass: "server", failure: "internal", tool: "validation" },
  transport_failure: modelDispatch("server", "transient"),
  tls_failure: modelDispatch("server", "transient"),
  dns_failure: modelDispatch("server", "transient"),
  rate_limited: modelDispatch("client", (envelope) =>
    envelope.retry_after_secs === undefined ? "quota" : "rate_limit",
  ),
  upstream_unauthorized: modelDispatch("client", "auth"),
  upstream_invalid: modelDispatch("client", (envelope) =>
    envelope.provider_status === 408 || envelope.provider_status === 425
      ? "transient"
      : "permanent",
  ),
  upstream_unavailable: modelDispatch("server", "transient"),
  upstream_error: modelDispatch("server", "permanent"),
  auth_failed: modelDispatch("client", "auth"),
  model_retry_exhausted: modelDispatch("client", "internal"),
  quota_exceeded: { wireClass: "client", failure: "usage_limit_exceeded", tool: "quota" },
  cancelled: { wireClass: "client", failure: "cancelled", tool: "internal" },
  deadline_exceeded: { wireClass: "server", failure: "deadline_exceeded", tool: "internal" },
  interrupted: { wireClass: "client", failure: "unclassified", tool: "internal" },
} as const satisfies Record<string, WireRow>;

type WireCode = keyof typeof WIRE;

const ROWS: ReadonlyMap<string, WireRow> = new Map(Object.entries(WIRE));

type Leaf = Exclude<AgentErrorDetail, { readonly type: "tool_error_terminal" }>;

/** The error inside terminal wrappers. It alone determines envelope and model text. */
function leafOf(detail: AgentErrorDetail): Leaf {
  let leaf = detail;
  while (leaf.type === "tool_error_terminal") leaf = leaf.source.detail;
  return leaf;
}

function wireCodeOf(leaf: Leaf): WireCode | undefined {
  switch (leaf.type) {
    case "provider":
      return leaf.kind === "http" ? httpCode(leaf.status) : TRANSPORT_CODES[leaf.kind];
    case "auth":
      return "auth_failed";
    case "model_retry":
      return "model_retry_exhausted";
    case "invalid_request":
      return "invalid_request";
    case "config":
      return "config_error";
    case "serde":
      return "serde";
    case "cancelled":
      return "cancelled";
    case "deadline_exceeded":
      return "deadline_exceeded";
    case "interrupted":
      return "interrupted";
    case "usage_limit_exceeded":
      return "quota_exceeded";
    default: {
      // An error of a newer copy of this package may have a type that this copy does not know.
      const unknown: never = leaf;
      void unknown;
      return undefined;
    }
  }
}

const TRANSPORT_CODES = {
  network: "transport_failure",
  tls: "tls_failure",
  dns: "dns_failure",
} as const satisfies Record<string, WireCode>;

function httpCode(status: number): WireCode {
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "upstream_unauthorized";
  return status < 500 ? "upstream_invalid" : "upstream_unavailable";
}

/** The envelope of an error. A terminal tool error has its source's envelope. */
export function envelopeOfDetail(detail: AgentErrorDetail): ErrorEnvelope {
  const leaf = leafOf(detail);
  const code = wireCodeOf(leaf);
  if (code === undefined) return UNCLASSIFIED_ENVELOPE;
  const envelope = { wire_code: code, wire_class: WIRE[code].wireClass };
  if (leaf.type !== "provider") return envelope;
  return {
    ...envelope,
    ...(leaf.retryAfterMs !== undefined && {
      retry_after_secs: Math.trunc(leaf.retryAfterMs / 1000),
    }),
    ...(leaf.kind === "http" && { provider_status: leaf.status }),
  };
}

/** The failure kind of an error that ended a run. */
export function failureKindOfDetail(detail: AgentErrorDetail): FailureKind {
  return detail.type === "tool_error_terminal"
    ? { type: "tool_error_terminal", kind: detail.kind, tool_name: detail.toolName }
    : failureKindFromEnvelope(envelopeOfDetail(detail));
}

/** The tool error kind of an error that ended a tool call. */
export function toolErrorKindOfDetail(detail: AgentErrorDetail): ToolErrorKind {
  return detail.type === "tool_error_terminal"
    ? detail.kind
    : toolErrorKindFromEnvelope(envelopeOfDetail(detail));
}

/**
 * The failure kind of a recorded `failed` without one (agents 0.5.x), by entelix's tables. Never
 * `tool_error_terminal`, because an envelope does not say whether an error was terminal. An unknown wire code is
 * `unclassified`.
 */
export function failureKindFromEnvelope(envelope: ErrorEnvelope): FailureKind {
  return { type: ROWS.get(codeIn(envelope))?.failure ?? "unclassified" };
}

/**
 * The tool error kind of a recorded `tool_error` without one (agents 0.5.x), by entelix's tables. An unknown wire
 * code is `internal`.
 */
export function toolErrorKindFromEnvelope(envelope: ErrorEnvelope): ToolErrorKind {
  const tool = ROWS.get(codeIn(envelope))?.tool ?? "internal";
  return typeof tool === "function" ? tool(envelope) : tool;
}

/** @throws TypeError without an envelope. One of another type has no code: untyped programs send any value. */
function codeIn(envelope: ErrorEnvelope): string {
  if (envelope === undefined || envelope === null) checkArgument(envelope, "envelope");
  return envelope.wire_code;
}

/** The text for the model: short, and without vendor, status or cause. */
export function llmTextOfDetail(detail: AgentErrorDetail): string {
  const leaf = leafOf(detail);
  switch (leaf.type) {
    case "provider":
      return "upstream model error";
    case "auth":
      return "authentication failed";
    case "model_retry":
      return leaf.hint;
    case "invalid_request":
      return `invalid input: ${leaf.message}`;
    case "config":
      return "tool misconfigured";
    case "serde":
      return "output could not be serialised";
    case "cancelled":
      return "cancelled";
    case "deadline_exceeded":
      return "timed out";
    case "interrupted":
      return "awaiting human review";
    case "usage_limit_exceeded":
      return "request quota reached";
    default: {
      const unknown: never = leaf;
      void unknown;
      return UNCLASSIFIED_LLM_TEXT;
    }
  }
}

/** The same for an error of a tool. Then the provider is a service that the tool called. */
export function llmTextOfTool(detail: AgentErrorDetail): string {
  const leaf = leafOf(detail);
  if (leaf.type !== "provider") return llmTextOfDetail(leaf);
  return leaf.kind === "http"
    ? `tool call failed (HTTP ${leaf.status})`
    : "tool call failed (no connection)";
}

/** The text for the model of a thrown value that matches no class. */
export const UNCLASSIFIED_LLM_TEXT = "unexpected error";
