import type { Series } from "./series-table.ts";

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
