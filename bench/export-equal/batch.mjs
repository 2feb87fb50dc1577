// The spans of a request, as a seed draws them.
import { resourceFromAttributes } from "@opentelemetry/resources";
import { randomSpans } from "../../test/bridge/export/support/random-spans.ts";
import { RandomValues } from "../../test/bridge/export/support/random-values.ts";
import { sdkSpans } from "./sdk-spans.mjs";

const MOST_SPANS = 60;

/** @returns the spans, and the most bytes that their request may take. */
export function drawBatch(seed) {
  const values = new RandomValues(seed);
  const count = 1 + values.below(MOST_SPANS);
  const bySdk = values.chance(0.35);
  const drawn = bySdk ? sdkSpans(values, count) : randomSpans(seed, count);
  const pending = !bySdk && values.chance(0.05);
  return {
    spans: pending ? withLateAttributes(drawn, values) : drawn,
    most: values.chance(0.1) ? 200 + values.below(20_000) : Number.POSITIVE_INFINITY,
    bySdk,
    pending,
  };
}

/** Gives the first resource an attribute that is still to come. */
function withLateAttributes(spans, values) {
  const [{ resource: old }] = spans;
  const late = resourceFromAttributes(
    { ...old.attributes, late: Promise.resolve(values.text()) },
    old.schemaUrl === undefined ? {} : { schemaUrl: old.schemaUrl },
  );
  return spans.map((span) => (span.resource === old ? { ...span, resource: late } : span));
}
