import { diag } from "@opentelemetry/api";
import type { SpanLimits } from "@opentelemetry/sdk-trace";
import { environmentNumber, environmentText } from "./environment-variables.ts";

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
 * What spans of the bridge need: they have up to 64 attributes without those of the operator's hook, and a hash of the
 * audit log has 64 characters.
 */
const NEEDED = 64;

/**
 * The limits of a span in `OTEL_SPAN_…_LIMIT` and `OTEL_ATTRIBUTE_…_LIMIT`. The SDK's `TracerProvider` does not
 * read them.
 */
export function spanLimitsFromEnvironment(): SpanLimits {
  const counts = Object.entries(COUNTS).map(([limit, names]) => [limit, limitIn(names, COUNT)]);
  const limits: SpanLimits = {
    ...Object.fromEntries(counts),
    attributeValueLengthLimit: limitIn(LENGTHS, Number.POSITIVE_INFINITY),
  };
  warnOfSmall(
    limits.attributeCountLimit,
    COUNTS.attributeCountLimit,
    "attributes that alerts need",
  );
  warnOfSmall(limits.attributeValueLengthLimit, LENGTHS, "run IDs and the audit log's hashes");
  return limits;
}

/** @param lost what the limit cuts off. */
function warnOfSmall(limit: number | undefined, names: readonly string[], lost: string): void {
  if (limit === undefined || limit >= NEEDED) return;
  const name = names.find((one) => environmentText(one) !== undefined);
  diag.warn(`entelix-otel: ${name}=${limit} cuts off ${lost}: set it to ${NEEDED} or more`);
}

/** Later variables are the default of earlier ones. */
function limitIn(names: readonly string[], byDefault: number): number {
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER };
  return names.reduceRight(
    (limit, name) => environmentNumber(name, { ...range, byDefault: limit }),
    byDefault,
  );
}
