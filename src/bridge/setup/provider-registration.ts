import { context, ProxyTracerProvider, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
import type { TracerProvider } from "@opentelemetry/sdk-trace";
import { isRegistered } from "../global-registration.ts";
import { environmentText, warnOfNoEffect } from "./environment-variables.ts";

/**
 * Registers the provider globally, with a context manager and the W3C propagators. A registered context
 * manager or propagator stays.
 *
 * @returns false, without any change, if another provider is registered.
 */
export function registerGlobally(provider: TracerProvider): boolean {
  if (isRegistered("trace")) return false;
  trace.setGlobalTracerProvider(provider);
  if (!isRegistered("context")) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }
  if (!isRegistered("propagation")) {
    warnOfPropagators();
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
  }
  return isGlobal(provider);
}

/** The propagators of the W3C, by their names in the variable. */
const W3C = ["tracecontext", "baggage"];

function warnOfPropagators(): void {
  const names = environmentText("OTEL_PROPAGATORS")?.split(",") ?? [];
  if (names.every((name) => W3C.includes(name.trim().toLowerCase()))) return;
  const advice = "call propagation.setGlobalPropagator() before the setup, else W3C's are used";
  warnOfNoEffect("OTEL_PROPAGATORS", advice);
}

/**
 * Unregisters the provider, so that another one can be registered. The context manager stays, since running
 * code needs it.
 */
export function unregister(provider: TracerProvider): void {
  if (isGlobal(provider)) trace.disable();
}

function isGlobal(provider: TracerProvider): boolean {
  const proxy = trace.getTracerProvider();
  return proxy instanceof ProxyTracerProvider && proxy.getDelegate() === provider;
}
