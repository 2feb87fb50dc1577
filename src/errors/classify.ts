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
 * Why a run failed, from whatever ended it. Never throws.
 *
 * Upstream: `FailureKind::from_error` of entelix-agents. What nothing matches is `unclassified`, and
 * warned of (see `setUnclassifiedWarning`); so is a pause, which is no failure.
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
 * What went wrong in a tool call, from whatever it threw. Never throws.
 *
 * Upstream: `ToolErrorKind::classify` of entelix-core. What nothing matches is `internal`, and
 * warned of (see `setUnclassifiedWarning`).
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
 * The envelope of anything thrown. Never throws.
 *
 * What nothing matches has the wire code `unclassified` and the class `server`.
 */
export function envelopeOf(error: unknown): ErrorEnvelope {
  const known = asAgentError(error);
  return known === undefined ? UNCLASSIFIED_ENVELOPE : envelopeOfDetail(known.detail);
}

/**
 * The text a model may see of anything thrown: a short sentence by kind of error, without vendor,
 * status, cause or value. Never throws.
 *
 * Upstream: `for_llm` of entelix-core. What nothing matches is "unexpected error".
 *
 * @example
 * renderForLlm(AgentError.http(503, "vendor down")); // "upstream model error"
 */
export function renderForLlm(error: unknown): RenderedForLlm {
  return renderDetail(asAgentError(error)?.detail);
}
