import { ProxyTracerProvider, type TracerProvider, trace } from "@opentelemetry/api";

/** The API's provider while none is registered. It makes no spans. */
const NONE = new ProxyTracerProvider().getDelegate();

/** The provider behind a global proxy. */
export function delegateOf(provider: unknown): unknown {
  return typeof provider === "object" &&
    provider !== null &&
    "getDelegate" in provider &&
    typeof provider.getDelegate === "function"
    ? provider.getDelegate()
    : provider;
}

/** The provider in use. @param given default: the global one. */
export function currentProvider(given: TracerProvider | undefined): unknown {
  return delegateOf(given ?? trace.getTracerProvider());
}

/** Whether no provider is registered, as this copy of the API sees it. */
export function isNoProvider(given: TracerProvider | undefined): boolean {
  return currentProvider(given) === NONE;
}
