import { hash, randomBytes } from "node:crypto";
import { checkWhole } from "../../events/option-checks.ts";

/** Ids that are remembered, at least. */
export const DEFAULT_ACCEPTED_IDS = 1_000_000;

/** Words of 32 bits of an id's hash that are kept. */
const WORDS = 4;

/**
 * The events that were taken lately, by tenant and event id: what is sent again need not be written
 * again. The last `limit` are remembered, and up to twice as many, in about 44 bytes each. Of an id
 * 128 bits of a salted SHA-256 are kept, so that no sender finds one that passes for another's.
 *
 * It is empty at first: add the ids of the journal's last lines, and those of lines once they are on
 * the disk. An event older than all that is taken again, which is harmless: it is played once.
 *
 * @example
 * const ids = new AcceptedIds();
 * const from = Math.max(journal.first, journal.next - ids.limit);
 * for await (const line of journal.read(from)) remember(ids, line);
 */
export class AcceptedIds {
  /** Ids remembered, at least. */
  readonly limit: number;
  /** Of this process alone: nobody can choose ids that crowd one place of a table. */
  readonly #salt = randomBytes(16).toString("hex");
  #young: IdTable;
  #old: IdTable | undefined;

  /**
   * @param limit ids remembered, at least.
   * @throws RangeError when it is no whole number from 1.
   */
  constructor(limit = DEFAULT_ACCEPTED_IDS) {
    checkWhole(limit, "limit", 1);
    this.limit = limit;
    this.#young = new IdTable(limit);
  }

  /** Ids remembered now; one that was added again may count twice. */
  get size(): number {
    return this.#young.size + (this.#old?.size ?? 0);
  }

  has(tenant: string, id: string): boolean {
    const words = this.#wordsOf(tenant, id);
    return this.#young.has(words) || this.#old?.has(words) === true;
  }

  add(tenant: string, id: string): void {
    if (this.#young.size >= this.limit) {
      const spare = this.#old ?? new IdTable(this.limit);
      spare.clear();
      this.#old = this.#young;
      this.#young = spare;
    }
    this.#young.add(this.#wordsOf(tenant, id));
  }

  #wordsOf(tenant: string, id: string): Uint32Array {
    // The length keeps `a` and `bc` apart from `ab` and `c`.
    const digest = hash("sha256", `${this.#salt}${tenant.length}:${tenant}${id}`, "buffer");
    const words = new Uint32Array(WORDS);
    for (let index = 0; index < WORDS; index += 1) words[index] = digest.readUInt32LE(index * 4);
    words[WORDS - 1] = (words[WORDS - 1] ?? 0) | 1;
    return words;
  }
}

/** A set of so many hashes at most, each in the first free place from where its first word points. */
class IdTable {
  readonly #slots: number;
  readonly #words: Uint32Array;
  #size = 0;

  constructor(limit: number) {
    this.#slots = Math.ceil(limit * 1.37) + 1;
    this.#words = new Uint32Array(this.#slots * WORDS);
  }

  get size(): number {
    return this.#size;
  }

  has(words: Uint32Array): boolean {
    return this.#isTaken(this.#place(words));
  }

  add(words: Uint32Array): void {
    const at = this.#place(words);
    if (this.#isTaken(at)) return;
    this.#words.set(words, at);
    this.#size += 1;
  }

  clear(): void {
    this.#words.fill(0);
    this.#size = 0;
  }

  /** Where the hash stands, or would. */
  #place(words: Uint32Array): number {
    const [first = 0, second = 0, third = 0, fourth = 0] = words;
    const table = this.#words;
    for (let slot = first % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const at = slot * WORDS;
      if (!this.#isTaken(at)) return at;
      if (table[at] !== first || table[at + 1] !== second) continue;
      if (table[at + 2] === third && table[at + 3] === fourth) return at;
    }
  }

  /** The last word of a hash is never 0. */
  #isTaken(at: number): boolean {
    return this.#words[at + WORDS - 1] !== 0;
  }
}
