import {
  checkedElsewhere,
  checkWhole,
  compareInstants,
  type Instant,
  isAt,
  type OptionChecks,
} from "../../events/door.ts";
import { mergeTies } from "./merge-ties.ts";
import type { OrderItem } from "./order-item.ts";
import { StreamMemory } from "./stream-memory.ts";
import { StreamTurns, type Wait } from "./stream-turns.ts";

/** How far back events are reordered. */
export interface ReorderBufferOptions {
  /** Number of later items after which an item is due for release. Default 128. */
  readonly size?: number | undefined;
  /**
   * How long {@link ReorderBuffer.drainOlderThan} lets an item wait, in ms; twice as long if earlier items also wait.
   * Default 5,000.
   */
  readonly maxWaitMs?: number | undefined;
  /** Number of later items after which an item is released even if earlier ones still wait. Default `size` + 1,024. */
  readonly maxSize?: number | undefined;
  /**
   * Number of new items between two releases. Default: half of `size`, which is cheapest. With 1 an item is released as
   * soon as possible. The order then depends on the items alone, not on where the buffer began.
   */
  readonly batch?: number | undefined;
}

/** The names of the options. {@link ReorderBuffer} checks their values. */
export const WINDOW_CHECKS: OptionChecks<ReorderBufferOptions> = {
  size: checkedElsewhere,
  maxWaitMs: checkedElsewhere,
  maxSize: checkedElsewhere,
  batch: checkedElsewhere,
};

const DEFAULT_SIZE = 128;
const DEFAULT_MAX_WAIT_MS = 5_000;
/** Default difference between `maxSize` and `size`. */
const MORE = 1_024;
/** A new item nearly always belongs near the end, so this many positions are tried one by one. */
const NEARBY = 8;

/**
 * Orders items by time. Items of equal time are ordered by `mergeTies`.
 *
 * An item is due when `size` others have come after it, from any stream. Due items are released in the order of their
 * times, and wait for earlier items that are not due. So the output is in order if no item comes more than `size`
 * places late. If streams are further apart (a backlog of an hour ago, a wrong clock), the order holds within each
 * stream: when `maxSize` later items have come, an item is released before waiting items of other streams.
 *
 * At most `maxSize` plus `batch` items are held. None is dropped, not even a duplicate. An item that is too late in its
 * own stream also waits, and is counted when it is released.
 *
 * @example
 * for (const line of lines) for (const item of buffer.push(line)) take(item);
 * for (const item of buffer.flush()) take(item);
 */
export class ReorderBuffer<T extends OrderItem> {
  /** Items released after a later one of their stream. */
  late = 0;
  /** Groups of equal times that were released in parts. */
  splitTies = 0;
  readonly #size: number;
  readonly #maxSize: number;
  readonly #maxWaitMs: number;
  /** By default a third of the held items goes at a time, so moving the others costs little for each item. */
  readonly #batch: number;
  /** Ascending by time. Items of equal time are in the order of arrival. */
  readonly #held: T[] = [];
  /** The number of each held item: how many had come, including it. */
  readonly #numbers: number[] = [];
  /** A ring of the last items by number: time of arrival in ms, and the item while it is held. */
  readonly #arrivals: Float64Array;
  readonly #heldByNumber: (T | undefined)[];
  /** Items that have come so far. */
  #count = 0;
  /** Count of items at which the next release begins. */
  #next: number;
  /** Items up to this number are due. */
  #due = 0;
  /** Items up to this number wait for no other item. */
  #overdue = 0;
  readonly #streams = new StreamMemory();

  /** @throws RangeError if an option is not a whole number in its range. */
  constructor(options: ReorderBufferOptions = {}) {
    this.#size = options.size ?? DEFAULT_SIZE;
    this.#maxWaitMs = options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS;
    checkWhole(this.#size, "size");
    checkWhole(this.#maxWaitMs, "maxWaitMs");
    this.#maxSize = options.maxSize ?? this.#size + MORE;
    checkWhole(this.#maxSize, "maxSize", this.#size);
    this.#batch = options.batch ?? Math.max(1, this.#size >> 1);
    checkWhole(this.#batch, "batch", 1);
    this.#next = this.#batch;
    this.#arrivals = new Float64Array(this.#maxSize + this.#batch + 1);
    this.#heldByNumber = new Array(this.#arrivals.length);
  }

  /** Number of held items. */
  get held(): number {
    return this.#held.length;
  }

  /** The held items in the order of their times. */
  get waiting(): readonly T[] {
    return this.#held;
  }

  /** Forgotten streams. Their next items cannot be counted as late. */
  get forgottenStreams(): number {
    return this.#streams.forgotten;
  }

  /**
   * Takes an item.
   *
   * @param arrivedMs time of arrival, on the clock of `drainOlderThan`. Must not decrease. Not needed without that
   *   method.
   * @returns the items that it releases, in order.
   */
  push(item: T, arrivedMs = 0): readonly T[] {
    this.#count += 1;
    const slot = this.#slotOf(this.#count);
    this.#arrivals[slot] = arrivedMs;
    this.#heldByNumber[slot] = item;
    this.#insert(item);
    if (this.#count < this.#next) return [];
    this.#next = this.#count + this.#batch;
    return this.#release(this.#count - this.#size, this.#count - this.#maxSize);
  }

  /**
   * Releases items that have waited longer than `maxWaitMs`, as if `size` others had come after them. Items that have
   * waited twice as long are released even before earlier ones. For services with few events: the later items that
   * would release an item are slow to come.
   */
  drainOlderThan(nowMs: number): readonly T[] {
    const limit = nowMs - this.#maxWaitMs;
    let due = this.#due;
    while (due < this.#count && this.#arrivedMs(due + 1) < limit) due += 1;
    let overdue = this.#overdue;
    while (overdue < due && this.#arrivedMs(overdue + 1) < limit - this.#maxWaitMs) overdue += 1;
    return due === this.#due && overdue === this.#overdue ? [] : this.#release(due, overdue);
  }

  /** Releases everything. */
  flush(): readonly T[] {
    return this.#inOrder(this.#take(this.#held.length));
  }

  #slotOf(number: number): number {
    return number % this.#arrivals.length;
  }

  #arrivedMs(number: number): number {
    return this.#arrivals[this.#slotOf(number)] ?? 0;
  }

  #insert(item: T): void {
    const held = this.#held;
    const index = indexFor(held, item.at);
    if (index === held.length) {
      held.push(item);
      this.#numbers.push(this.#count);
    } else {
      held.splice(index, 0, item);
      this.#numbers.splice(index, 0, this.#count);
    }
  }

  /**
   * Releases due items that have no waiting item before them, then overdue items.
   *
   * @param due number of the last due item.
   */
  #release(due: number, overdue: number): readonly T[] {
    const numbers = this.#numbers;
    this.#due = Math.max(this.#due, due);
    let end = 0;
    while ((numbers[end] ?? Number.POSITIVE_INFINITY) <= this.#due) end += 1;
    // Items of one time are released together.
    if (end > 0 && end < numbers.length) end = startOfTies(this.#held, end);
    const ready = this.#inOrder(this.#take(end));
    const last = this.#newestUpTo(overdue);
    this.#overdue = Math.max(this.#overdue, overdue);
    return last === undefined ? ready : ready.concat(this.#inOrder(this.#takeUpTo(last.at)));
  }

  /** The latest item that has become overdue. */
  #newestUpTo(overdue: number): T | undefined {
    let newest: T | undefined;
    for (let number = this.#overdue + 1; number <= overdue; number += 1) {
      const item = this.#heldByNumber[this.#slotOf(number)];
      if (item !== undefined && !isUpTo(item, newest?.at)) newest = item;
    }
    return newest;
  }

  /** Takes the first held items. */
  #take(count: number): T[] {
    if (count === 0) return [];
    for (const number of this.#numbers.splice(0, count)) {
      this.#heldByNumber[this.#slotOf(number)] = undefined;
    }
    return this.#held.splice(0, count);
  }

  /** Takes items up to a time that may go before waiting ones. */
  #takeUpTo(at: Readonly<Instant>): T[] {
    const held = this.#held;
    const end = indexFor(held, at);
    const goes = this.#goingUpTo(end);
    const taken: T[] = [];
    // Remaining items are moved up, from the last one on.
    let free = end;
    for (let index = end; index > 0; ) {
      const [before, from, startOfTime] = [taken.length, index, startOfTies(held, index - 1)];
      for (; index > startOfTime; index -= 1) {
        const [item, number] = [held[index - 1], this.#numbers[index - 1]];
        if (item === undefined || number === undefined) continue;
        if (goes(item, number)) {
          taken.push(item);
          this.#heldByNumber[this.#slotOf(number)] = undefined;
        } else {
          free -= 1;
          held[free] = item;
          this.#numbers[free] = number;
        }
      }
      const going = taken.length - before;
      if (going > 0 && going < from - startOfTime) this.splitTies += 1;
    }
    held.splice(0, free);
    this.#numbers.splice(0, free);
    return taken.reverse();
  }

  /** A function that says which of the first held items may go before the others. */
  #goingUpTo(end: number): (item: T, number: number) => boolean {
    const turns = new StreamTurns(this.#streams.parentOf);
    const items = this.#held.slice(0, end);
    for (const item of items) turns.learn(item);
    for (const [index, item] of items.entries()) {
      turns.add(item, this.#waitOf(this.#numbers[index] ?? 0));
    }
    return (item, number) => turns.goes(item, this.#waitOf(number));
  }

  #waitOf(number: number): Wait {
    if (number <= this.#overdue) return "overdue";
    return number <= this.#due ? "due" : "waits";
  }

  /** Orders the ties among items, and remembers the released items. */
  #inOrder(items: T[]): readonly T[] {
    for (let start = 0; start < items.length; ) {
      const end = endOfTies(items, start);
      if (end - start > 1) {
        const merged = mergeTies(items.slice(start, end), this.#streams.parentOf);
        for (const [index, item] of merged.entries()) items[start + index] = item;
      }
      for (; start < end; start += 1) {
        const item = items[start];
        if (item !== undefined && this.#streams.release(item)) this.late += 1;
      }
    }
    return items;
  }
}

/** Index behind the last item that is not later. */
function indexFor(items: readonly OrderItem[], at: Readonly<Instant>): number {
  let high = items.length;
  for (let near = 0; near < NEARBY; near += 1) {
    if (high === 0 || isUpTo(items[high - 1], at)) return high;
    high -= 1;
  }
  let low = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isUpTo(items[middle], at)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isUpTo(item: OrderItem | undefined, at: Readonly<Instant> | undefined): boolean {
  return item !== undefined && at !== undefined && compareInstants(item.at, at) <= 0;
}

/** Index of the first item with the time of the one at `index`. */
function startOfTies(items: readonly OrderItem[], index: number): number {
  let start = index;
  while (start > 0 && sameTime(items[start - 1], items[index])) start -= 1;
  return start;
}

/** Index behind the last item with the time of the one at `index`. */
function endOfTies(items: readonly OrderItem[], index: number): number {
  let end = index + 1;
  while (sameTime(items[end], items[index])) end += 1;
  return end;
}

function sameTime(a: OrderItem | undefined, b: OrderItem | undefined): boolean {
  return a !== undefined && b !== undefined && isAt(a.at, b.at);
}
