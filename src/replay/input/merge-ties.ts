import {
  closes,
  compareAcross,
  compareByRank,
  compareBySequence,
  MAX_NESTING,
  type OrderItem,
  opens,
} from "./order-item.ts";

/** The items of one stream in a group of equal times. */
interface StreamQueue<T> {
  readonly items: readonly T[];
  /** Index of the next item. */
  next: number;
  /** Streams above this one in the group, nearest first. */
  above: readonly StreamQueue<T>[];
  /** Remaining items that open something. */
  opening: number;
  /** Remaining items of lower streams that close something. */
  closingBelow: number;
}

/**
 * Orders items of equal time. The order of arrival does not matter.
 *
 * Within a stream, items are ordered by sequence. If an item has none, they are ordered by rank, event ID and text.
 * Between streams, a parent opens before its children and closes after them. Other items keep the order of their lines
 * if the dialect's lines are in order. Sequences win over all of this. Byte-identical items stay together.
 *
 * @param parentOf the parent of a stream, if known.
 */
export function mergeTies<T extends OrderItem>(
  group: readonly T[],
  parentOf: (stream: string) => string | undefined,
): T[] {
  if (isOneStream(group)) return inStreamOrder([...group]);
  const queues = queuesOf(group, parentOf);
  const merged: T[] = [];
  for (;;) {
    const queue = nextQueue(queues);
    if (queue === undefined) return merged;
    let item = queue.items[queue.next];
    const text = item?.text;
    while (item !== undefined && item.text === text) {
      merged.push(item);
      queue.next += 1;
      if (opens(item)) queue.opening -= 1;
      if (closes(item)) for (const above of queue.above) above.closingBelow -= 1;
      item = queue.items[queue.next];
    }
  }
}

function isOneStream(group: readonly OrderItem[]): boolean {
  const stream = group[0]?.streamKey().stream;
  return group.every((item) => item.streamKey().stream === stream);
}

/** Sorts the items of one stream. */
function inStreamOrder<T extends OrderItem>(items: T[]): T[] {
  const sequenced = items.every((item) => item.sequence !== undefined);
  return items.sort(sequenced ? compareBySequence : compareByRank);
}

function nextQueue<T extends OrderItem>(
  queues: readonly StreamQueue<T>[],
): StreamQueue<T> | undefined {
  let best: StreamQueue<T> | undefined;
  let bestItem: T | undefined;
  let bestFree = false;
  for (const queue of queues) {
    const item = queue.items[queue.next];
    if (item === undefined) continue;
    const free = isFree(queue, item);
    const better = free === bestFree ? isBefore(item, bestItem) : free;
    if (bestItem === undefined || better) {
      best = queue;
      bestItem = item;
      bestFree = free;
    }
  }
  return best;
}

function isBefore(item: OrderItem, best: OrderItem | undefined): boolean {
  return best === undefined || compareAcross(item, best) < 0;
}

function isFree<T extends OrderItem>(queue: StreamQueue<T>, item: T): boolean {
  if (opens(item)) return queue.above.every((above) => above.opening === 0);
  return !closes(item) || queue.closingBelow === 0;
}

function queuesOf<T extends OrderItem>(
  group: readonly T[],
  parentOf: (stream: string) => string | undefined,
): StreamQueue<T>[] {
  const byStream = new Map<string, T[]>();
  const parents = new Map<string, string>();
  for (const item of group) {
    const { stream, parent } = item.streamKey();
    const items = byStream.get(stream);
    if (items === undefined) byStream.set(stream, [item]);
    else items.push(item);
    // Two starts may disagree. The lesser name counts, so the order of arrival does not matter.
    const known = parents.get(stream);
    if (parent !== undefined && (known === undefined || parent < known))
      parents.set(stream, parent);
  }
  const queues = new Map<string, StreamQueue<T>>();
  for (const [stream, items] of byStream) {
    inStreamOrder(items);
    const opening = items.filter(opens).length;
    queues.set(stream, { items, next: 0, above: [], opening, closingBelow: 0 });
  }
  if (queues.size > 1) {
    for (const [stream, queue] of queues) {
      const parent = (name: string) => parents.get(name) ?? parentOf(name);
      queue.above = queuesAbove(stream, queues, parent);
      const closing = queue.items.filter(closes).length;
      for (const above of queue.above) above.closingBelow += closing;
    }
  }
  return [...queues.values()];
}

function queuesAbove<T>(
  stream: string,
  queues: ReadonlyMap<string, StreamQueue<T>>,
  parentOf: (stream: string) => string | undefined,
): StreamQueue<T>[] {
  const found: StreamQueue<T>[] = [];
  const own = queues.get(stream);
  let name = parentOf(stream);
  for (let level = 0; name !== undefined && level < MAX_NESTING; level += 1) {
    const queue = queues.get(name);
    if (queue === own) break;
    if (queue !== undefined) found.push(queue);
    name = parentOf(name);
  }
  return found;
}
