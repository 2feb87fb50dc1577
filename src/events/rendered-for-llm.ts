declare const rendered: unique symbol;

/**
 * Text that was rendered for the model, and so may be shown to it and stored in the audit log.
 *
 * There is no way from a bare string to this type but through the renderer (`renderForLlm`) or the
 * decoder of a recorded event: operator text cannot reach the model by a slip of the hand.
 * Upstream: `RenderedForLlm<String>` of entelix-core.
 */
export type RenderedForLlm = string & { readonly [rendered]: true };
