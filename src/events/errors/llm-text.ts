import type { AgentErrorDetail } from "./agent-error-detail.ts";
import { llmTextOfDetail, UNCLASSIFIED_LLM_TEXT } from "./agent-error-tables.ts";

declare const rendered: unique symbol;

/**
 * Text that was rendered for the model. It may be shown to the model and stored in the audit log.
 *
 * A plain string can only become this type through the renderer (`renderForLlm`) or the decoder of a recorded event.
 * So operator text cannot reach the model by mistake. In Rust: `RenderedForLlm<String>` of entelix-core.
 */
export type RenderedForLlm = string & { readonly [rendered]: true };

/**
 * Marks the model text of a recorded event as rendered. **Only for decoders of recorded events**: the text went
 * through the renderer when the event was first sent. For any other text use `renderForLlm`, otherwise operator text
 * reaches the model.
 */
export function recordedLlmText(text: string): RenderedForLlm {
  return text as RenderedForLlm;
}

/** A tool's result, which the model receives unchanged. */
export function resultText(text: string): RenderedForLlm {
  return text as RenderedForLlm;
}

/** Renders an error's detail for the model. `undefined` gives one fixed text. */
export function renderDetail(
  detail: AgentErrorDetail | undefined,
  textOf: (detail: AgentErrorDetail) => string = llmTextOfDetail,
): RenderedForLlm {
  const text = detail === undefined ? UNCLASSIFIED_LLM_TEXT : textOf(detail);
  return text as RenderedForLlm;
}
