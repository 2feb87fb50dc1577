import { renderDetail } from "./render-llm-text.ts";
import type { RenderedForLlm } from "./rendered-for-llm.ts";
import { asAgentError } from "./thrown-as-agent-error.ts";

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
