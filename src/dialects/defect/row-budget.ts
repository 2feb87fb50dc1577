/** A bound on the audit rows that wait for the ends of their turns, over all turns. */
export class RowBudget {
  /** Rows, and streamed pieces of one, that were not kept because too much was held. */
  over = 0;
  /** Whether rows are wanted at all. */
  readonly wanted: boolean;
  readonly #mostRows: number;
  readonly #mostCharacters: number;
  #rows = 0;
  #characters = 0;

  constructor(mostRows: number, mostCharacters: number, wanted: boolean) {
    this.wanted = wanted;
    this.#mostRows = mostRows;
    this.#mostCharacters = mostCharacters;
  }

  /** @returns false when there is no room; it is counted then. */
  take(rows: number, characters: number): boolean {
    const fits =
      this.#rows + rows <= this.#mostRows && this.#characters + characters <= this.#mostCharacters;
    if (!fits) {
      this.over++;
      return false;
    }
    this.#rows += rows;
    this.#characters += characters;
    return true;
  }

  /** Rows that were given out are thrown away. */
  lose(rows: number): void {
    this.over += rows;
  }

  give(rows: number, characters: number): void {
    this.#rows -= rows;
    this.#characters -= characters;
  }
}

/** Roughly how many characters a value takes as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return 20;
  if (typeof value !== "object" || value === null) return 5;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 2);
  let size = 2;
  for (const [name, field] of Object.entries(value)) size += name.length + sizeOf(field);
  return size;
}
