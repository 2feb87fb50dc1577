import type { Attributes } from "@opentelemetry/api";
import { METRICS, type MetricAttribute, type MetricName, OTHER } from "./metric-names.ts";

/** The value of an attribute; `undefined` where a series has none of that name. */
export type LabelValue = string | boolean | undefined;

/** One set of attributes of an instrument, and what was counted under it. */
export class Series {
  readonly attributes: Attributes;
  /** The labels that say `_other`. */
  readonly replaced: readonly MetricAttribute[];
  value = 0;

  constructor(attributes: Attributes, replaced: readonly MetricAttribute[]) {
    this.attributes = attributes;
    this.replaced = replaced;
  }
}

/**
 * Most sets of an instrument. The SDK takes 2,000 with the one for all that is over, and says of
 * that one nothing but that it was over: alerts by failure kind would go blind.
 */
export const MOST_SERIES = 1_900;

/** Shares of the sets that may be made while labels are left that could be given up. */
const FINEST_SHARE = 0.7;
const COARSE_SHARE = 0.98;

/**
 * The sets of attributes of one instrument, never more than {@link MOST_SERIES}.
 *
 * When it fills up, labels are given up one after the other (they become `_other`), so that the ones
 * that are left, and above all those with a handful of values (outcome, failure kind), stay exact.
 */
export class SeriesTable {
  readonly #names: readonly MetricAttribute[];
  /** Where in the names the labels stand that can be given up, the first to go first. */
  readonly #ladder: readonly number[];
  readonly #series = new Map<string, Series>();

  /** @param givenUp the labels that can be given up, the first to go first. */
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

  /** The series of these values, in the order of the metric's attributes; or a coarser one. */
  of(...wanted: LabelValue[]): Series {
    const values = wanted;
    for (let step = 0; ; step++) {
      const key = JSON.stringify(values.map((value) => value ?? null));
      const known = this.#series.get(key);
      if (known !== undefined) return known;
      while (step < this.#ladder.length && values[this.#ladder[step] ?? 0] === OTHER) step++;
      if (this.#series.size < this.#mostAt(step)) return this.#add(key, values);
      values[this.#ladder[step] ?? 0] = OTHER;
    }
  }

  /** @param step how many labels have been given up. */
  #mostAt(step: number): number {
    const steps = this.#ladder.length;
    // What is left then has a fixed handful of values.
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

/** The series of one thing that can fail: without `error.type`, and with each that has come. */
export class FallibleSeries {
  readonly plain: Series;
  readonly #find: (errorType: string | undefined) => Series;
  readonly #failed = new Map<string, Series>();

  /** @param find gives the series of an `error.type`, which is one of a few. */
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
