/** A value that came from outside, with the way to it for the messages of what is wrong with it. */
export class Shape {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    this.#value = value;
    this.#path = path;
  }

  /** Absent and null are the same. */
  get absent(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  /** @throws TypeError when this is no object */
  at(name: string): Shape {
    if (typeof this.#value !== "object" || this.#value === null) throw this.#wrong("an object");
    return new Shape(Reflect.get(this.#value, name), `${this.#path}.${name}`);
  }

  /** The elements; an absent list is empty. @throws TypeError when this is something else */
  get list(): Shape[] {
    if (this.absent) return [];
    if (!Array.isArray(this.#value)) throw this.#wrong("a list");
    return this.#value.map((value: unknown, at) => new Shape(value, `${this.#path}[${at}]`));
  }

  /** The entries; an absent object has none. @throws TypeError when this is something else */
  get entries(): [string, Shape][] {
    if (this.absent) return [];
    if (typeof this.#value !== "object" || this.#value === null) throw this.#wrong("an object");
    return Object.entries(this.#value).map(([name, value]) => [
      name,
      new Shape(value, `${this.#path}.${name}`),
    ]);
  }

  /** @throws TypeError when this is no text */
  get text(): string {
    if (typeof this.#value !== "string") throw this.#wrong("text");
    return this.#value;
  }

  /** @throws TypeError when this is no number */
  get number(): number {
    if (typeof this.#value !== "number") throw this.#wrong("a number");
    return this.#value;
  }

  get optionalText(): string | undefined {
    return this.absent ? undefined : this.text;
  }

  get optionalNumber(): number | undefined {
    return this.absent ? undefined : this.number;
  }

  /** Absent is false. */
  get flag(): boolean {
    if (this.absent) return false;
    if (typeof this.#value !== "boolean") throw this.#wrong("true or false");
    return this.#value;
  }

  #wrong(expected: string): TypeError {
    return new TypeError(
      `${this.#path}: expected ${expected}, got ${JSON.stringify(this.#value) ?? "nothing"}`,
    );
  }
}
