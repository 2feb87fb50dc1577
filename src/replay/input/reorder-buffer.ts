import { checkWhole, compareInstants, type Instant, isAt } from "../../events/door.ts";
import { mergeTies } from "./merge-ties.ts";
import type { OrderItem } from "./order-item.ts";
import { StreamMemory } from "./stream-memory.ts";
import { StreamTurns, type Wait } from "./stream-turns.ts";

/** How far back events are put in order. */
export interface ReorderBufferOptions {
  /** Later items that must have come before an item is released. Default 128. */
  readonly size?: number | undefined;
  /**
   * How long {@link ReorderBuffer.drainOlderThan} lets an item wait, in ms: twice as long where earlier items
   * wait, too. Default 5,000.
   */
  readonly maxWaitMs?: number | undefined;
  /** Later items after which an item is released though earlier ones, or some of its time, still wait. Default `size` + 1,024. */
  readonly maxSize?: number | undefined;
  /**
   * After how many items it is looked what can be released. Default: half of `size`, which is cheapest.
   * With 1 each is released as soon as it can be: then the order depends on the items alone, and
   * not on which of them the buffer began with.
   */
  readonly batch?: number | undefined;
}

const DEFAULT_SIZE = 128;
const DEFAULT_MAX_WAIT_MS = 5_000;
/** By how much `maxSize` is above `size`. */
const MORE = 1_024;
/** An item is nearly always among the last: so many are looked at one by one. */
const NEARBY = 8;

/**
 * Puts items in the order of their times; items of equal time as `mergeTies` says.
 *
 * Each item waits until `size` others have come after it, however early or late it is beside other streams: then it
 * is due. Due items are released in the order of their times, and wait for earlier ones that are not due. So what is
 * released is in order as long as no item comes more than `size` places late. Where streams are further apart (a
 * backlog of an hour ago, a clock that is wrong), that holds for each of them: an item whose `maxSize` later ones have
 * come is released past those of other streams that still wait.
 *
 * At most `maxSize` and `batch` items are held. Nothing is dropped: duplicates stay in. An item that comes later
 * than that in its own stream waits too, and is counted when it is released.
 *
 * @example
 * for (const line of lines) for (const item of buffer.push(line)) take(item);
 * for (const item of buffer.flush()) take(item);
 */
export class ReorderBuffer<T extends OrderItem> {
  /** Items that were released after a later one of their stream. */
  late = 0;
  /** Groups of equal times that were released in parts. */
  splitTies = 0;
  readonly #size: number;
  readonly #maxSize: number;
  readonly #maxWaitMs: number;
  /** By default a third of what is held goes at a time: an item's share of the moving is small. */
  readonly #batch: number;
  /** Ascending by time; of equal times in the order of arrival. */
  readonly #held: T[] = [];
  /** Of each held item, how many had come with it. */
  readonly #numbers: number[] = [];
  /** By number, of the last items: when each came, in ms, and the item while it is held. */
  readonly #arrivals: Float64Array;
  readonly #heldByNumber: (T | undefined)[];
  /** Items that have come. */
  #count = 0;
  /** Items that must have come before the next look at what can be released. */
  #next: number;
  /** Items up to this number are due. */
  #due = 0;
  /** Items up to this number wait for no others. */
  #overdue = 0;
  readonly #streams = new StreamMemory();

  /** @throws RangeError when an option is no whole number in its range. */
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

  /** Items that are held. */
  get held(): number {
    return this.#held.length;
  }

  /** The items that are held, in the order of their times. */
  get waiting(): readonly T[] {
    return this.#held;
  }

  /** Streams that were forgotten, so that none of their items counted as late. */
  get forgottenStreams(): number {
    return this.#streams.forgotten;
  }

  /**
   * Takes an item.
   *
   * @param arrivedMs when it came, on the clock of `drainOlderThan`, not before the last one; not needed without that.
   * @returns the items that are released by it, in order.
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
   * Releases what came more than `maxWaitMs` before `nowMs`, as if `size` others had come after it; past earlier
   * items what came more than twice that before. For live services: where few events come, the later ones that
   * would release an item are long in coming.
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
    const place = placeFor(held, item.at);
    if (place === held.length) {
      held.push(item);
      this.#numbers.push(this.#count);
    } else {
      held.splice(place, 0, item);
      this.#numbers.splice(place, 0, this.#count);
    }
  }

  /**
   * Releases what is due and has no earlier item before it that is not, and then what is overdue.
   *
   * @param due items up to this number are.
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

  /** The latest of the items that are overdue now. */
  #newestUpTo(overdue: number): T | undefined {
    let newest: T | undefined;
    for (let number = this.#overdue + 1; number <= overdue; number += 1) {
      const item = this.#heldByNumber[this.#slotOf(number)];
      if (item !== undefined && !isUpTo(item, newest?.at)) newest = item;
    }
    return newest;
  }

  /** Takes the first items that are held. */
  #take(count: number): T[] {
    if (count === 0) return [];
    for (const number of this.#numbers.splice(0, count)) {
      this.#heldByNumber[this.#slotOf(number)] = undefined;
    }
    return this.#held.splice(0, count);
  }

  /** Takes what can go before items that still wait, up to a time. */
  #takeUpTo(at: Readonly<Instant>): T[] {
    const held = this.#held;
    const end = placeFor(held, at);
    const goes = this.#goingUpTo(end);
    const taken: T[] = [];
    // What stays is moved up, from the last one on.
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

  /** Of the first items that are held: which can go before the others. */
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

  /** Puts the ties among items in order, and notes what is released. */
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

/** Index behind the items that are not later. */
function placeFor(items: readonly OrderItem[], at: Readonly<Instant>): number {
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
