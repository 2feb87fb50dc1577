import {
  type Context,
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { RandomValues } from "../../bridge/export/support/random-values.ts";

const STATES = ["vendor=1", "a=b,c=d", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"];
const CODES = [SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR];

/**
 * Makes a span by the API of everything that a span can have; the same draw makes the same one. Its
 * parent can be one that is not sampled.
 */
export function makeOddSpan(values: RandomValues, tracer: Tracer): void {
  const start = 1_700_000_000 + values.below(1e8);
  const parent = oddParent(values);
  const options = {
    kind: values.below(5),
    attributes: values.attributes(8),
    links: Array.from({ length: values.below(4) }, () => oddLink(values)),
    startTime: time(start, values.below(1e9)),
  };
  const span = tracer.startSpan(values.text(), options, parent);
  span.setAttributes(values.attributes(4));
  for (let n = values.below(4); n > 0; n--) {
    span.addEvent(values.text(), values.attributes(4), time(start, values.below(1e9)));
  }
  if (values.chance(0.1)) span.recordException(oddError(values), time(start, 0));
  if (values.chance(0.2)) span.updateName(values.text());
  if (values.chance(0.4)) span.setStatus({ code: values.of(CODES), message: values.text() });
  // What a processor may do before the others see the span, and no type allows.
  const attributes: unknown = Reflect.get(span, "attributes");
  if (values.chance(0.3) && typeof attributes === "object" && attributes !== null) {
    Object.assign(attributes, values.attributes(3));
  }
  span.end(time(start + values.below(100), values.below(1e9)));
}

/** An id that is none of all zeros: that would be none. */
export function oddId(values: RandomValues, digits: number): string {
  return `f${values.hex(digits - 1)}`.toLowerCase();
}

function time(seconds: number, nanos: number): [number, number] {
  return [seconds, nanos];
}

function oddParent(values: RandomValues): Context {
  return values.chance(0.6) ? trace.setSpanContext(ROOT_CONTEXT, oddContext(values)) : ROOT_CONTEXT;
}

function oddContext(values: RandomValues): SpanContext {
  return {
    traceId: oddId(values, 32),
    spanId: oddId(values, 16),
    traceFlags: values.below(2),
    ...(values.chance(0.5) ? { isRemote: values.chance(0.5) } : {}),
    ...(values.chance(0.3) ? { traceState: createTraceState(values.of(STATES)) } : {}),
  };
}

function oddLink(values: RandomValues): Link {
  return {
    context: oddContext(values),
    ...(values.chance(0.7) ? { attributes: values.attributes(4) } : {}),
  };
}

/** With a stack that does not tell where this runs. */
function oddError(values: RandomValues): Error {
  const error = new TypeError(values.text());
  error.stack = values.text();
  return error;
}
