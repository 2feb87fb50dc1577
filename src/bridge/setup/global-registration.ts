import { ProxyTracerProvider, trace } from "@opentelemetry/api";
import type { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

/** A part of the OpenTelemetry API that one owner in a process registers. */
export type ApiPart = "diag" | "trace" | "metrics" | "context" | "propagation";

/**
 * Where every 1.x copy of the API keeps what is registered; the copies agree on this key. The API
 * itself has no call for it.
 */
const API_KEY = Symbol.for("opentelemetry.js.api.1");

/** Whether that part of the API is registered in this process. */
export function isRegistered(part: ApiPart): boolean {
  const api: unknown = Reflect.get(globalThis, API_KEY);
  return typeof api === "object" && api !== null && Reflect.get(api, part) !== undefined;
}

/**
 * Makes the provider the process's own, with a context manager and the W3C propagators. A context
 * manager or propagator that is there stays.
 *
 * @returns false when another provider is registered: then nothing is changed.
 */
export function registerGlobally(provider: NodeTracerProvider): boolean {
  if (isRegistered("trace")) return false;
  provider.register({
    ...(isRegistered("context") ? { contextManager: null } : {}),
    ...(isRegistered("propagation") ? { propagator: null } : {}),
  });
  return isGlobal(provider);
}

/**
 * Takes the provider back, so that another can be registered. The context manager stays: code that
 * is still running relies on it.
 */
export function unregister(provider: NodeTracerProvider): void {
  if (isGlobal(provider)) trace.disable();
}

function isGlobal(provider: NodeTracerProvider): boolean {
  const proxy = trace.getTracerProvider();
  return proxy instanceof ProxyTracerProvider && proxy.getDelegate() === provider;
}
