import {
  envelopeOfDetail,
  failureKindOfDetail,
  toolErrorKindOfDetail,
  UNCLASSIFIED_ENVELOPE,
} from "./agent-error-tables.ts";
import { asAgentError } from "./as-agent-error.ts";
import { warnUnclassified } from "./classify-warning.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "./error-kinds.ts";
import type { RenderedForLlm } from "./llm-text.ts";
import { renderDetail } from "./llm-text.ts";

/**
 * Classifies why a run failed. Accepts any thrown value and never throws.
 *
 * Upstream: `FailureKind::from_error` of entelix-agents. An unknown value is `unclassified` and
 * causes a warning (see `setUnclassifiedWarning`). A pause is not a failure and is `unclassified`,
 * too.
 *
 * @example
 * classifyFailure(AgentError.http(503, "vendor down")); // { type: "model_dispatch" }
 */
export function classifyFailure(error: unknown): FailureKind {
  const known = asAgentError(error);
  const kind: FailureKind =
    known === undefined ? { type: "unclassified" } : failureKindOfDetail(known.detail);
  if (kind.type === "unclassified") warnUnclassified(error);
  return kind;
}

/**
 * Classifies why a tool call failed. Accepts any thrown value and never throws.
 *
 * Upstream: `ToolErrorKind::classify` of entelix-core. An unknown value is `internal` and causes a
 * warning (see `setUnclassifiedWarning`).
 *
 * @example
 * classifyToolError(AgentError.config("no index")); // "internal"
 */
export function classifyToolError(error: unknown): ToolErrorKind {
  const known = asAgentError(error);
  if (known !== undefined) return toolErrorKindOfDetail(known.detail);
  warnUnclassified(error);
  return "internal";
}

/**
 * The error envelope of any thrown value. Never throws.
 *
 * An unknown value has the wire code `unclassified` and the class `server`.
 */
export function envelopeOf(error: unknown): ErrorEnvelope {
  const known = asAgentError(error);
  return known === undefined ? UNCLASSIFIED_ENVELOPE : envelopeOfDetail(known.detail);
}

/**
 * The text of an error that a model may see: a short sentence for the kind of error, without
 * vendor, status, cause or values. Accepts any thrown value and never throws.
 *
 * Upstream: `for_llm` of entelix-core. The text of an unknown value is "unexpected error".
 *
 * @example
 * renderForLlm(AgentError.http(503, "vendor down")); // "upstream model error"
 */
export function renderForLlm(error: unknown): RenderedForLlm {
  return renderDetail(asAgentError(error)?.detail);
}
