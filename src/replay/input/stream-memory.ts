import { HASH_SALT, RecentMap } from "../../events/door.ts";
import { EVENT_RANK } from "../dialects/dialect.ts";
import type { OrderItem } from "./order-item.ts";

/** Streams whose newest release is remembered at least; at most twice as many are. */
export const REMEMBERED_STREAMS = 10_000;
/** Streams whose parent is remembered, so that ties between them can be ordered. */
const REMEMBERED_PARENTS = 10_000;

/**
 * What the reorder buffer remembers of the streams whose items it released.
 *
 * Times are kept as numbers, by a hash of 32 bits of the stream: a map of names takes longer than all else that is
 * done to put an item in order, and nothing but a count depends on it.
 */
export class StreamMemory {
  /** Streams that were forgotten, because others have come since. */
  forgotten = 0;
  readonly #parents = new RecentMap<string>(REMEMBERED_PARENTS);
  #recent = new TimeTable();
  #older = new TimeTable();

  /** The stream above a stream, where it is known. */
  readonly parentOf = (stream: string): string | undefined => this.#parents.get(stream);

  /**
   * Notes that an item is released.
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
    const { parent, stream } = item.place();
    if (parent !== undefined) this.#parents.set(stream, parent);
  }
}

/** A power of two, so that at most a third is used. */
const SLOTS = 2 ** 15;

/** The newest time of each stream: open addressing, linear probing. */
class TimeTable {
  size = 0;
  /** 0 where a slot is free. */
  readonly #hashes = new Int32Array(SLOTS);
  readonly #seconds = new Float64Array(SLOTS);
  readonly #nanoseconds = new Float64Array(SLOTS);

  /** Slot of a stream, or the one that it would have. */
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

  /** @returns `false` where the time is before the one that it has. */
  advance(slot: number, seconds: number, nanoseconds: number): boolean {
    const known = this.#seconds[slot] ?? 0;
    if (seconds < known) return false;
    if (seconds === known && nanoseconds < (this.#nanoseconds[slot] ?? 0)) return false;
    this.#seconds[slot] = seconds;
    this.#nanoseconds[slot] = nanoseconds;
    return true;
  }

  /** The stream was in another table. */
  moveFrom(other: TimeTable, from: number, to: number): void {
    this.#seconds[to] = other.#seconds[from] ?? 0;
    this.#nanoseconds[to] = other.#nanoseconds[from] ?? 0;
  }

  clear(): void {
    this.size = 0;
    this.#hashes.fill(0);
  }
}

/** Characters at the end of a name that are all read: of a UUID, those that are random. */
const TAIL = 12;
/** Of those before it, every third is. */
const STEP = 3;

function hashOf(text: string): number {
  const { length } = text;
  let hash = HASH_SALT ^ length;
  for (let index = length - 1; index >= 0; index -= length - index > TAIL ? STEP : 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}
