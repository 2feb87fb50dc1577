/** Values of a page. Pages are never copied as a column grows, so that it has no slack but in its last one. */
const PAGE = 4096;

/** A growing column of whole numbers from 0 to 2^32 - 1. What was never set is 0. */
export class CountColumn {
  readonly #pages: Uint32Array[] = [];

  get(row: number): number {
    return this.#pages[Math.floor(row / PAGE)]?.[row % PAGE] ?? 0;
  }

  set(row: number, value: number): void {
    const page = Math.floor(row / PAGE);
    while (this.#pages.length <= page) this.#pages.push(new Uint32Array(PAGE));
    const values = this.#pages[page];
    if (values !== undefined) values[row % PAGE] = value;
  }

  add(row: number, value: number): void {
    this.set(row, this.get(row) + value);
  }
}

/** From here on a number of {@link NumberColumn} has no place in its pages. */
const LARGE = 2 ** 32 - 1;

/** A growing column of numbers from 0; whole ones take 4 bytes each. */
export class NumberColumn {
  /** The number plus 1; 0 where there is none. */
  readonly #small = new CountColumn();
  /** Those that are no whole numbers, or large: there are few. */
  readonly #others = new Map<number, number>();

  /** `undefined` where none was set. */
  get(row: number): number | undefined {
    const value = this.#small.get(row);
    return value === 0 ? this.#others.get(row) : value - 1;
  }

  set(row: number, value: number | undefined): void {
    const isSmall = value !== undefined && Number.isInteger(value) && value >= 0 && value < LARGE;
    this.#small.set(row, isSmall ? value + 1 : 0);
    if (value === undefined || isSmall) this.#others.delete(row);
    else this.#others.set(row, value);
  }
}

/** A growing column of whole numbers of 64 bits, such as Unix times in ns. What was never set is 0. */
export class WideColumn {
  readonly #pages: BigUint64Array[] = [];

  get(row: number): bigint {
    return this.#pages[Math.floor(row / PAGE)]?.[row % PAGE] ?? 0n;
  }

  set(row: number, value: bigint): void {
    const page = Math.floor(row / PAGE);
    while (this.#pages.length <= page) this.#pages.push(new BigUint64Array(PAGE));
    const values = this.#pages[page];
    if (values !== undefined) values[row % PAGE] = value;
  }
}
