import type { AgentErrorDetail } from "./agent-error-detail.ts";
import { llmTextOfDetail, UNCLASSIFIED_LLM_TEXT } from "./agent-error-tables.ts";

declare const rendered: unique symbol;

/**
 * Text that was rendered for the model, and so may be shown to it and stored in the audit log.
 *
 * There is no way from a bare string to this type but through the renderer (`renderForLlm`) or the
 * decoder of a recorded event: operator text cannot reach the model by a slip of the hand.
 * Upstream: `RenderedForLlm<String>` of entelix-core.
 */
export type RenderedForLlm = string & { readonly [rendered]: true };

/**
 * Takes the model text of a recorded event as it is. **For decoders of recorded events only**: the
 * text went through the renderer when the event was first sent. Anything else must come from
 * `renderForLlm`, or operator text reaches the model.
 */
export function recordedLlmText(text: string): RenderedForLlm {
  return text as RenderedForLlm;
}

/** What a tool returned as its result: the model receives it as it is. */
export function resultText(text: string): RenderedForLlm {
  return text as RenderedForLlm;
}

/** Renders an error's detail for the model; nothing known gives one fixed text. */
export function renderDetail(
  detail: AgentErrorDetail | undefined,
  textOf: (detail: AgentErrorDetail) => string = llmTextOfDetail,
): RenderedForLlm {
  const text = detail === undefined ? UNCLASSIFIED_LLM_TEXT : textOf(detail);
  return text as RenderedForLlm;
}
