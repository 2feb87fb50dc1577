import { providerOf } from "./seen-spans.mjs";

/**
 * This package in several ways, and that of another checkout, which `bench/change.mjs` puts beside it.
 *
 * @param entry of the package: that of the adapter.
 * @param adapt makes what the framework is given, and its flush, of the entry's module and a bridge.
 */
export function ourVariants(entry, adapt) {
  const made = (name, options) => async (spanProcessor) => {
    const [{ Bridge }, module] = await Promise.all([import(name), import(`${name}/${entry}`)]);
    const tracerProvider = providerOf(spanProcessor, { ours: true });
    return adapt(module, new Bridge({ tracerProvider, captureContent: true, ...options }));
  };
  return {
    ours: made("entelix-otel", {}),
    "ours without content": made("entelix-otel", { captureContent: false }),
    "ours without steps": made("entelix-otel", { steps: false }),
    before: made("entelix-otel-before", {}),
    "before without content": made("entelix-otel-before", { captureContent: false }),
  };
}
