import { HASH_SALT, RecentMap } from "../../events/door.ts";
import { EVENT_RANK } from "../dialects/dialect.ts";
import type { OrderItem } from "./order-item.ts";

/** Minimum number of streams whose newest release is remembered. The maximum is twice that. */
export const REMEMBERED_STREAMS = 10_000;
/** Streams whose parent is remembered to order ties. */
const REMEMBERED_PARENTS = 10_000;

/**
 * Remembers the streams whose items were released.
 *
 * Times are stored by a 32-bit hash of the stream's name. A map of names would take longer than all other work of the
 * reorder buffer, and only a count depends on it.
 */
export class StreamMemory {
  /** Streams that were forgotten to make room. */
  forgotten = 0;
  readonly #parents = new RecentMap<string>(REMEMBERED_PARENTS);
  #recent = new TimeTable();
  #older = new TimeTable();

  /** The parent of a stream, if known. */
  readonly parentOf = (stream: string): string | undefined => this.#parents.get(stream);

  /**
   * Records a released item.
   *
   * @returns whether it is late: a later one of its stream was released before.
   */
  release(item: OrderItem): boolean {
    const [seconds, nanoseconds] = item.at;
    if (item.rank === EVENT_RANK.runOpens) this.#learnParent(item);
    const hash = hashOf(item.streamName()) || 1;
    let slot = this.#recent.find(hash);
    if (!this.#recent.has(slot)) {
      if (this.#recent.size === REMEMBERED_STREAMS) {
        this.forgotten += this.#older.size;
        [this.#recent, this.#older] = [this.#older, this.#recent];
        this.#recent.clear();
        slot = this.#recent.find(hash);
      }
      this.#recent.add(slot, hash);
      const old = this.#older.find(hash);
      if (this.#older.has(old)) this.#recent.moveFrom(this.#older, old, slot);
    }
    return !this.#recent.advance(slot, seconds, nanoseconds);
  }

  #learnParent(item: OrderItem): void {
    const { parent, stream } = item.streamKey();
    if (parent !== undefined) this.#parents.set(stream, parent);
  }
}

/** A power of two. At most a third of the slots is used. */
const SLOTS = 2 ** 15;

/** The newest time of each stream, in a hash table with open addressing and linear probing. */
class TimeTable {
  size = 0;
  /** 0 marks a free slot. */
  readonly #hashes = new Int32Array(SLOTS);
  readonly #seconds = new Float64Array(SLOTS);
  readonly #nanoseconds = new Float64Array(SLOTS);

  /** The slot of a stream, or the free slot where it belongs. */
  find(hash: number): number {
    for (let slot = hash & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const known = this.#hashes[slot];
      if (known === hash || known === 0) return slot;
    }
  }

  has(slot: number): boolean {
    return this.#hashes[slot] !== 0;
  }

  add(slot: number, hash: number): void {
    this.size += 1;
    this.#hashes[slot] = hash;
    this.#seconds[slot] = Number.NEGATIVE_INFINITY;
  }

  /** @returns `false` if the stored time is later. */
  advance(slot: number, seconds: number, nanoseconds: number): boolean {
    const known = this.#seconds[slot] ?? 0;
    if (seconds < known) return false;
    if (seconds === known && nanoseconds < (this.#nanoseconds[slot] ?? 0)) return false;
    this.#seconds[slot] = seconds;
    this.#nanoseconds[slot] = nanoseconds;
    return true;
  }

  /** Copies the time of a stream from the other table. */
  moveFrom(other: TimeTable, from: number, to: number): void {
    this.#seconds[to] = other.#seconds[from] ?? 0;
    this.#nanoseconds[to] = other.#nanoseconds[from] ?? 0;
  }

  clear(): void {
    this.size = 0;
    this.#hashes.fill(0);
  }
}

/** All of the last characters of a name are hashed: in a UUID they are random. */
const TAIL = 12;
/** Every third of the characters before them is hashed. */
const STEP = 3;

function hashOf(text: string): number {
  const { length } = text;
  let hash = HASH_SALT ^ length;
  for (let index = length - 1; index >= 0; index -= length - index > TAIL ? STEP : 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}
