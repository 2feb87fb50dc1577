import { OTHER, UNKNOWN } from "./metric-names.ts";
import type { LabelOption } from "./metric-options.ts";

/** Longer names are no names that somebody reads on a dashboard. */
const LONGEST = 128;

/**
 * The values of one label that are shown: a list, or the first that come. Which value a name gets
 * never changes, so that what was counted up under it is counted down there too.
 */
export class LabelValues {
  readonly #shown: Set<string>;
  readonly #most: number;

  constructor(option: LabelOption) {
    this.#shown = new Set(typeof option === "number" ? [] : option);
    this.#most = typeof option === "number" ? option : this.#shown.size;
  }

  /** The name itself, or `_other`; `unknown` where there is none. */
  of(name: string | undefined): string {
    // Programs without types put anything where a name belongs.
    if (typeof name !== "string") return UNKNOWN;
    if (this.#shown.has(name)) return name;
    if (this.#shown.size >= this.#most || name.length > LONGEST) return OTHER;
    this.#shown.add(name);
    return name;
  }
}
