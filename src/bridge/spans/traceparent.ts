import { createTraceState, type SpanContext } from "@opentelemetry/api";

const SHAPE = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a W3C `traceparent`. `undefined` if it is malformed, or an ID is all zeros. */
export function parseTraceparent(text: string, tracestate?: string): SpanContext | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "00", more] = match;
  // Only versions after 00 can have more fields.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
}

/** Writes a span context as a W3C `traceparent`. */
export function formatTraceparent(context: SpanContext): string {
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags & 1 ? "01" : "00"}`;
}
