import { EVENT_RANK } from "../dialects/dialect.ts";
import { compareInstants, type Instant, isAt } from "../events/instant.ts";
import { checkWhole } from "../events/option-checks.ts";
import { RecentMap } from "../lifecycle/recent-map.ts";
import { mergeTies } from "./merge-ties.ts";
import type { OrderItem } from "./order-item.ts";

/** How far back events are put in order. */
export interface ReorderBufferOptions {
  /** Later items that must have come before an item is released. Default 128. */
  readonly size?: number | undefined;
  /** How long {@link ReorderBuffer.drainOlderThan} lets an item wait, in ms. Default 5,000. */
  readonly maxWaitMs?: number | undefined;
  /** Most items of one equal time that are held. Default 1,024. */
  readonly maxTies?: number | undefined;
  /**
   * How many items are gathered before some are released. Default: half of `size`, which is cheapest.
   * With 1 each is released as soon as it can be: then what is late depends on the items alone, and
   * not on which of them the buffer began with.
   */
  readonly batch?: number | undefined;
}

const DEFAULT_SIZE = 128;
const DEFAULT_MAX_WAIT_MS = 5_000;
const DEFAULT_MAX_TIES = 1_024;
/** Streams whose parent is remembered, so that ties between them can be ordered. */
const REMEMBERED_PARENTS = 10_000;

/**
 * Puts items in the order of their times; items of equal time as `mergeTies` says. What is released
 * is the same for every order of arrival, as long as no item comes more than `size` places late.
 *
 * Items are held in order and released in small batches: at most `size` and `batch` items are held,
 * and `maxTies` more where times are equal. Nothing is dropped: duplicates stay in, and an item older
 * than what was released is released at once and counted.
 *
 * @example
 * for (const line of lines) for (const item of buffer.push(line)) take(item);
 * for (const item of buffer.flush()) take(item);
 */
export class ReorderBuffer<T extends OrderItem> {
  /** Items that came too late to be put in order. */
  late = 0;
  /** How often a group of equal times was too large to be held whole. */
  splitTies = 0;
  readonly #size: number;
  readonly #maxWaitMs: number;
  readonly #maxTies: number;
  /** By default a third of what is held goes at a time: an item's share of the moving is small. */
  readonly #batch: number;
  /** Ascending by time; of equal times in the order of arrival. */
  readonly #held: T[] = [];
  /** Time of arrival of each held item, in ms. */
  readonly #arrivals: number[] = [];
  /** Items to hold before the next look at what can be released. */
  #enough: number;
  #releasedTo: Readonly<Instant> | undefined;
  /** Whether only a part of the items of the time `#releasedTo` was released. */
  #moreTies = false;
  readonly #parents = new RecentMap<string>(REMEMBERED_PARENTS);
  readonly #parentOf = (stream: string): string | undefined => this.#parents.get(stream);

  /** @throws RangeError when an option is no whole number in its range. */
  constructor(options: ReorderBufferOptions = {}) {
    this.#size = options.size ?? DEFAULT_SIZE;
    this.#maxWaitMs = options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS;
    this.#maxTies = options.maxTies ?? DEFAULT_MAX_TIES;
    checkWhole(this.#size, "size");
    checkWhole(this.#maxWaitMs, "maxWaitMs");
    checkWhole(this.#maxTies, "maxTies", 1);
    this.#batch = options.batch ?? Math.max(1, this.#size >> 1);
    checkWhole(this.#batch, "batch", 1);
    this.#enough = this.#size + this.#batch;
  }

  /** Items that are held. */
  get held(): number {
    return this.#held.length;
  }

  /** The items that are held, in the order of their times. */
  get waiting(): readonly T[] {
    return this.#held;
  }

  /** When the held item that came first came; `Infinity` where none is held. */
  get oldestArrivedMs(): number {
    return this.#arrivals.reduce((oldest, at) => Math.min(oldest, at), Number.POSITIVE_INFINITY);
  }

  /**
   * Takes an item.
   *
   * @param arrivedMs when it came, on the clock of `drainOlderThan`; not needed without that.
   * @returns the items that are released by it, in order.
   */
  push(item: T, arrivedMs = 0): readonly T[] {
    const { at } = item;
    if (this.#isLate(at)) {
      this.late += 1;
      this.#learn(item);
      return [item];
    }
    this.#insert(item, arrivedMs);
    return this.#held.length < this.#enough ? [] : this.#releaseReady();
  }

  /**
   * Releases what came more than `maxWaitMs` before `nowMs`, with everything that goes before it. For
   * live services: where few events come, the later ones that would release an item are long in coming.
   */
  drainOlderThan(nowMs: number): readonly T[] {
    const due = this.#arrivals.findLastIndex((arrived) => nowMs - arrived > this.#maxWaitMs);
    return due === -1 ? [] : this.#release(endOfTies(this.#held, due));
  }

  /** Releases everything. */
  flush(): readonly T[] {
    return this.#release(this.#held.length);
  }

  #isLate(at: Readonly<Instant>): boolean {
    if (this.#releasedTo === undefined) return false;
    const order = compareInstants(at, this.#releasedTo);
    return order < 0 || (order === 0 && !this.#moreTies);
  }

  #insert(item: T, arrivedMs: number): void {
    const held = this.#held;
    let place = held.length;
    for (; place > 0; place -= 1) {
      const before = held[place - 1];
      if (before === undefined || compareInstants(before.at, item.at) <= 0) break;
    }
    if (place === held.length) {
      held.push(item);
      this.#arrivals.push(arrivedMs);
    } else {
      held.splice(place, 0, item);
      this.#arrivals.splice(place, 0, arrivedMs);
    }
  }

  /** Releases the items behind which there are `size` later ones. */
  #releaseReady(): readonly T[] {
    const ready = startOfTies(this.#held, this.#held.length - this.#size);
    if (ready > 0) return this.#release(ready);
    if (endOfTies(this.#held, 0) > this.#maxTies) {
      this.splitTies += 1;
      return this.#release(Math.ceil(this.#maxTies / 2));
    }
    this.#enough = this.#held.length + this.#batch;
    return [];
  }

  #release(count: number): readonly T[] {
    const taken = this.#held.splice(0, count);
    this.#arrivals.splice(0, count);
    this.#enough = Math.max(this.#size, this.#held.length) + this.#batch;
    const last = taken.at(-1);
    if (last === undefined) return taken;
    const next = this.#held[0];
    this.#releasedTo = last.at;
    this.#moreTies = next !== undefined && isAt(next.at, last.at);
    return this.#inOrder(taken);
  }

  /** Puts the ties among items in order, and learns the parents that the items name. */
  #inOrder(items: T[]): readonly T[] {
    for (let start = 0; start < items.length; ) {
      const end = endOfTies(items, start);
      if (end - start > 1) {
        const merged = mergeTies(items.slice(start, end), this.#parentOf);
        for (const [index, item] of merged.entries()) items[start + index] = item;
      }
      for (; start < end; start += 1) this.#learn(items[start]);
    }
    return items;
  }

  #learn(item: T | undefined): void {
    if (item?.rank !== EVENT_RANK.runOpens) return;
    const { stream, parent } = item.place();
    if (parent !== undefined) this.#parents.set(stream, parent);
  }
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
