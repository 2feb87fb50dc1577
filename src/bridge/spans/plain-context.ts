import type { SpanContext } from "@opentelemetry/api";

/**
 * A copy of a span context as a plain object, without `isRemote`. It names each field, because a spread copies none of
 * a context whose class has getters, such as Datadog's.
 */
export function plainContext(context: SpanContext): SpanContext {
  const { spanId, traceFlags, traceId, traceState } = context;
  return { traceId, spanId, traceFlags, ...(traceState === undefined ? {} : { traceState }) };
}
