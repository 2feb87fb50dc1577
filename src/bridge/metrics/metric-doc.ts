/** A row of the table of metrics. */
export interface MetricDoc {
  readonly kind: "histogram" | "counter" | "updowncounter" | "gauge";
  /** In UCUM notation, as in OpenTelemetry. */
  readonly unit: string;
  readonly attributes: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets: readonly number[] | undefined;
  /** The description of the instrument. `METRIC_NOTES` has what only the reference page says. */
  readonly brief: string;
}

/** `count` bounds, each twice the one before, without binary rounding errors. */
export function doubling(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => Number((first * 2 ** n).toPrecision(6)));
}

export function histogram<const A extends readonly string[]>(
  unit: string,
  buckets: readonly number[],
  attributes: A,
  brief: string,
) {
  return { kind: "histogram", unit, attributes, buckets, brief } as const;
}

export function counter<const A extends readonly string[]>(
  unit: string,
  attributes: A,
  brief: string,
) {
  return { kind: "counter", unit, attributes, buckets: undefined, brief } as const;
}

export function upDownCounter<const A extends readonly string[]>(
  unit: string,
  attributes: A,
  brief: string,
) {
  return { kind: "updowncounter", unit, attributes, buckets: undefined, brief } as const;
}

export function gauge<const A extends readonly string[]>(
  unit: string,
  attributes: A,
  brief: string,
) {
  return { kind: "gauge", unit, attributes, buckets: undefined, brief } as const;
}
