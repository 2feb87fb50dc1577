import { ProxyTracerProvider, trace } from "@opentelemetry/api";
import type { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

/** A part of the OpenTelemetry API that one owner in a process registers. */
export type ApiPart = "diag" | "trace" | "metrics" | "context" | "propagation";

/**
 * The key under which all 1.x copies of the API store their registrations. The API has no function for it.
 */
const API_KEY = Symbol.for("opentelemetry.js.api.1");

/** Whether that part of the API is registered in this process. */
export function isRegistered(part: ApiPart): boolean {
  const api: unknown = Reflect.get(globalThis, API_KEY);
  return typeof api === "object" && api !== null && Reflect.get(api, part) !== undefined;
}

/**
 * Registers the provider globally, with a context manager and the W3C propagators. A registered context
 * manager or propagator stays.
 *
 * @returns false, without any change, if another provider is registered.
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
 * Unregisters the provider, so that another one can be registered. The context manager stays, since running
 * code needs it.
 */
export function unregister(provider: NodeTracerProvider): void {
  if (isGlobal(provider)) trace.disable();
}

function isGlobal(provider: NodeTracerProvider): boolean {
  const proxy = trace.getTracerProvider();
  return proxy instanceof ProxyTracerProvider && proxy.getDelegate() === provider;
}
