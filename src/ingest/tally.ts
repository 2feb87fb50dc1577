/** Names that are counted on their own. */
const MAX_NAMES = 100;
/** Length of a counted name in UTF-16 units; what is longer is cut. */
const NAME_LENGTH = 100;
/** What the names beyond the first 100 are counted as. */
const OTHER = "_other";

/** Counts by name, for names that come from outside: at most 100 of them, the rest as `_other`. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    const short = name.slice(0, NAME_LENGTH);
    const known = this.#counts.has(short) || this.#counts.size < MAX_NAMES;
    const key = known ? short : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts so far, in the order in which the names first came. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
