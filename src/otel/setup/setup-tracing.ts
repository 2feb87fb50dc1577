import { variablesAloud } from "./diag-logger.ts";
import { Tracing } from "./tracing.ts";
import type { TracingOptions } from "./tracing-options.ts";
import { wireTracing } from "./wire-tracing.ts";

/**
 * Wires OpenTelemetry's Node SDK so that the trace of a run has the run's id: OTLP/HTTP in protobuf by
 * an export that loses no burst, our id generator and sampler, registered for the whole process.
 *
 * Synchronous: call it before the agent starts. What is not given by option comes from the standard
 * `OTEL_*` variables; one that can't be used is told to OpenTelemetry's diagnostic logger, or on
 * the console where there is none, and its default is taken. With `OTEL_SDK_DISABLED=true` no spans
 * are made and nothing is registered.
 *
 * @throws TypeError, RangeError when an option can't be used; the message names it.
 *
 * @example
 * const tracing = setupTracing({ serviceName: "support-agent" });
 * agent.addSink(tracing.createBridge());
 * // at the end of the process
 * await tracing.shutdown();
 */
export function setupTracing(options: TracingOptions = {}): Tracing {
  return new Tracing(variablesAloud(() => wireTracing(options)).parts);
}
