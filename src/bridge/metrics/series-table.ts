import type { Attributes } from "@opentelemetry/api";
import { METRICS, type MetricAttribute, type MetricName, OTHER } from "./metric-names.ts";

/** The value of an attribute; `undefined` if the series does not have it. */
export type LabelValue = string | number | boolean | undefined;

/** One attribute set of an instrument, and its value. */
export class Series {
  readonly attributes: Attributes;
  /** The labels with the value `_other`. */
  readonly replaced: readonly MetricAttribute[];
  value = 0;

  constructor(attributes: Attributes, replaced: readonly MetricAttribute[]) {
    this.attributes = attributes;
    this.replaced = replaced;
  }
}

/**
 * Most attribute sets of an instrument. The SDK takes 2,000, with one for all further sets. That one has no
 * labels, so alerts by failure kind would not work.
 */
export const MOST_SERIES = 1_900;

/** Shares of {@link MOST_SERIES} at which the next label is dropped. */
const FINEST_SHARE = 0.7;
const COARSE_SHARE = 0.98;

/**
 * The attribute sets of one instrument, at most {@link MOST_SERIES}.
 *
 * As the table fills up, it drops labels one after the other: their values become `_other`. The others stay
 * exact, above all those with few values (outcome, failure kind).
 */
export class SeriesTable {
  readonly #names: readonly MetricAttribute[];
  /** Indexes of the labels that can be dropped, in this order. */
  readonly #ladder: readonly number[];
  readonly #series = new Map<string, Series>();

  /** @param givenUp labels that can be dropped, in this order. */
  constructor(metric: MetricName, givenUp: readonly MetricAttribute[]) {
    this.#names = METRICS[metric].attributes;
    this.#ladder = givenUp.map((name) => this.#names.indexOf(name));
  }

  get size(): number {
    return this.#series.size;
  }

  all(): MapIterator<Series> {
    return this.#series.values();
  }

  /** The series of these values, in the order of the metric's attributes, or one with dropped labels. */
  of(...wanted: LabelValue[]): Series {
    const values = wanted;
    for (let step = 0; ; step++) {
      const key = JSON.stringify(values.map((value) => value ?? null));
      const known = this.#series.get(key);
      if (known !== undefined) return known;
      while (step < this.#ladder.length && isLost(values[this.#ladder[step] ?? 0])) step++;
      if (this.#series.size < this.#mostAt(step)) return this.#add(key, values);
      values[this.#ladder[step] ?? 0] = OTHER;
    }
  }

  /** @param step number of dropped labels. */
  #mostAt(step: number): number {
    const steps = this.#ladder.length;
    // The remaining labels have few values.
    if (step >= steps) return Number.POSITIVE_INFINITY;
    const share =
      steps === 1
        ? COARSE_SHARE
        : FINEST_SHARE + ((COARSE_SHARE - FINEST_SHARE) * step) / (steps - 1);
    return Math.floor(MOST_SERIES * share);
  }

  #add(key: string, values: readonly LabelValue[]): Series {
    const attributes: Attributes = {};
    const replaced: MetricAttribute[] = [];
    for (const [n, name] of this.#names.entries()) {
      const value = values[n];
      if (value === undefined) continue;
      attributes[name] = value;
      if (value === OTHER) replaced.push(name);
    }
    const series = new Series(attributes, replaced);
    this.#series.set(key, series);
    return series;
  }
}

/** A label that was dropped before, or that the series does not have. */
function isLost(value: LabelValue): boolean {
  return value === OTHER || value === undefined;
}

/** The series of runs or calls that can fail: one without `error.type`, and one for each value of it. */
export class FallibleSeries {
  readonly plain: Series;
  readonly #find: (errorType: string | undefined) => Series;
  readonly #failed = new Map<string, Series>();

  /** @param find the series of an `error.type`, which has few values. */
  constructor(find: (errorType: string | undefined) => Series) {
    this.#find = find;
    this.plain = find(undefined);
  }

  of(errorType: string | undefined): Series {
    if (errorType === undefined) return this.plain;
    const there = this.#failed.get(errorType);
    if (there !== undefined) return there;
    const made = this.#find(errorType);
    this.#failed.set(errorType, made);
    return made;
  }
}
