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

/** A growing column of numbers. What was never set is not a number. */
export class NumberColumn {
  readonly #pages: Float64Array[] = [];

  /** `undefined` where none was set. */
  get(row: number): number | undefined {
    const value = this.#pages[Math.floor(row / PAGE)]?.[row % PAGE];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  set(row: number, value: number | undefined): void {
    const page = Math.floor(row / PAGE);
    while (this.#pages.length <= page) this.#pages.push(new Float64Array(PAGE).fill(Number.NaN));
    const values = this.#pages[page];
    if (values !== undefined) values[row % PAGE] = value ?? Number.NaN;
  }
}

/** A growing column of Unix times in ns. 0 stands for none. */
export class TimeColumn {
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
