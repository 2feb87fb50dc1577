import type { SpanLimits } from "@opentelemetry/sdk-trace";
import { environmentNumber } from "./environment-variables.ts";

/** The count limits of a span, and their variables. The first variable that is set counts. */
const COUNTS = {
  attributeCountLimit: ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"],
  eventCountLimit: ["OTEL_SPAN_EVENT_COUNT_LIMIT"],
  linkCountLimit: ["OTEL_SPAN_LINK_COUNT_LIMIT"],
  attributePerEventCountLimit: [
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT",
  ],
  attributePerLinkCountLimit: [
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT",
  ],
} as const satisfies Partial<Record<keyof SpanLimits, readonly string[]>>;

const LENGTHS = ["OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"];

/** The specification's default of every count. */
const COUNT = 128;

/**
 * The limits of a span in `OTEL_SPAN_…_LIMIT` and `OTEL_ATTRIBUTE_…_LIMIT`. The SDK's `TracerProvider` does not
 * read them.
 */
export function spanLimitsFromEnvironment(): SpanLimits {
  const counts = Object.entries(COUNTS).map(([limit, names]) => [limit, limitIn(names, COUNT)]);
  return {
    ...Object.fromEntries(counts),
    attributeValueLengthLimit: limitIn(LENGTHS, Number.POSITIVE_INFINITY),
  };
}

/** Later variables are the default of earlier ones. */
function limitIn(names: readonly string[], byDefault: number): number {
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER };
  return names.reduceRight(
    (limit, name) => environmentNumber(name, { ...range, byDefault: limit }),
    byDefault,
  );
}
