import type { Attributes } from "@opentelemetry/api";
import { Random } from "../../../support/random.ts";

/** Characters of one, two, three and four bytes, and halves of pairs. */
const CHARACTERS = [
  ...["a", "Z", "0", " ", '"', "\\", "\n", "\u0000", "\u007f", "\u0080", "é", "߿", "ࠀ", "中"],
  ...["\uffff", "😀", "𝄞", "\ud800", "\udfff", "\ud83d", "\ude00"],
];

/** Lengths round every bound of the encoder: one, two or three bytes of length, short or long. */
const LENGTHS = [
  38, 41, 42, 43, 47, 48, 49, 63, 64, 120, 126, 127, 128, 129, 1365, 4095, 4096, 4097,
];
const LONG_LENGTHS = [5461, 16_000, 16_383, 16_384, 70_000];

const NUMBERS = [
  ...[0, -0, 1, -1, 127, 128, 2 ** 31, -(2 ** 31), 2 ** 32 - 1, 2 ** 32, -(2 ** 32)],
  ...[2 ** 53 - 1, 2 ** 53, -(2 ** 53), 2 ** 63 - 1024, 2 ** 63, -(2 ** 63), -(2 ** 63) - 2048],
  ...[2 ** 64, 1e300, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324],
];

/** What the SDK's types don't know, and what it lets through. */
const STRANGE: readonly { readonly value: unknown }[] = [
  ...[
    null,
    undefined,
    5n,
    Symbol.iterator,
    () => 1,
    new Date(0),
    new Map([[1, 2]]),
    new Error("no"),
  ],
].map((value) => ({ value }));

const KEYS = ["a", "entelix.run_id", "ключ", "", "gen_ai.operation.name", "k".repeat(130)];

/** Draws texts and values of every type that an attribute can have. */
export class RandomValues extends Random {
  text(): string {
    if (this.chance(0.002)) return this.of(CHARACTERS).repeat(this.of(LONG_LENGTHS));
    if (this.chance(0.1)) return this.of(CHARACTERS).repeat(this.of(LENGTHS));
    if (this.chance(0.5)) return this.#ascii(this.below(60));
    return Array.from({ length: this.below(60) }, () => this.of(CHARACTERS)).join("");
  }

  number(): number {
    if (this.chance(0.3)) return this.of(NUMBERS);
    const size = 2 ** this.below(70);
    const number = (this.next() - 0.5) * size;
    return this.chance(0.6) ? Math.trunc(number) : number;
  }

  attributes(most: number): Attributes {
    const all: Attributes = {};
    const count = this.below(most + 1);
    for (let n = 0; n < count; n++) Object.assign(all, { [this.#key()]: this.#value(0) });
    return all;
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.of([..."0123456789abcdefABCDEF"])).join("");
  }

  #key(): string {
    return this.chance(0.5) ? this.of(KEYS) : this.#ascii(1 + this.below(30));
  }

  #value(depth: number): unknown {
    const kind = this.below(depth < 4 ? 20 : 14);
    if (kind < 6) return this.text();
    if (kind < 10) return this.number();
    if (kind < 12) return this.chance(0.5);
    if (kind === 12) return this.of(STRANGE).value;
    if (kind === 13) return this.#bytes();
    if (kind < 17) return Array.from({ length: this.below(5) }, () => this.#value(depth + 1));
    if (kind === 17) return Array.from({ length: this.below(40) }, () => this.text());
    const entries = Array.from({ length: this.below(4) }, () => [
      this.#key(),
      this.#value(depth + 1),
    ]);
    return Object.fromEntries(entries);
  }

  #bytes(): Uint8Array {
    const bytes = Uint8Array.from({ length: this.below(300) }, () => this.below(256));
    return this.chance(0.5) ? Buffer.from(bytes) : bytes;
  }

  #ascii(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(32 + this.below(95))).join("");
  }
}
