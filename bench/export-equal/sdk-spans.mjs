// Spans that the SDK makes, with limits that cut what they are given.
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { makeOddSpan, oddId } from "../../test/e2e/support/export-odd-spans.ts";

const COUNTS = [0, 1, 2, 5, 128];
const LENGTHS = [1, 12, 63, 64, 128, Number.POSITIVE_INFINITY];

/** @param values what draws; ids and times too, so that the same seed makes the same spans. */
export function sdkSpans(values, count) {
  const made = [];
  const provider = new BasicTracerProvider({
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes(values.attributes(4)),
    idGenerator: {
      generateTraceId: () => oddId(values, 32),
      generateSpanId: () => oddId(values, 16),
    },
    spanLimits: {
      attributeCountLimit: 1 + values.of(COUNTS),
      attributeValueLengthLimit: values.of(LENGTHS),
      eventCountLimit: values.of(COUNTS),
      linkCountLimit: values.of(COUNTS),
      attributePerEventCountLimit: values.of(COUNTS),
      attributePerLinkCountLimit: values.of(COUNTS),
    },
    spanProcessors: [
      { onStart() {}, onEnd: (span) => made.push(span), forceFlush: none, shutdown: none },
    ],
  });
  const tracers = Array.from({ length: 1 + values.below(3) }, (_, n) =>
    provider.getTracer(`scope ${n} ${values.text()}`, values.chance(0.5) ? "1.0.0" : undefined, {
      ...(values.chance(0.5) ? { schemaUrl: values.text() } : {}),
    }),
  );
  for (let n = 0; n < count; n++) makeOddSpan(values, values.of(tracers));
  return made;
}

const none = async () => {};
