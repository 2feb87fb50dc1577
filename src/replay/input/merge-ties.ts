import {
  closes,
  compareAcross,
  compareByRank,
  compareBySequence,
  MAX_NESTING,
  type OrderItem,
  opens,
} from "./order-item.ts";

/** What of one stream is in a group of equal times. */
interface Lane<T> {
  readonly items: readonly T[];
  /** Index of the item that is next. */
  next: number;
  /** The streams above this one that are in the group, nearest first. */
  above: readonly Lane<T>[];
  /** Items to come that open something. */
  opening: number;
  /** Items to come, of the streams below this one, that close something. */
  closingBelow: number;
}

/**
 * Puts items of equal time in order, whatever order they are given in.
 *
 * Within a stream by sequence (where not all items have one: by rank, event id, text). Between streams
 * parents first: what opens in a stream before what opens in those below it, what closes below before
 * what closes above; else as the lines stand in the source, where their dialect says that this is their
 * order. Where that contradicts the sequences, the sequences win. Byte-identical items
 * stay together.
 *
 * @param parentOf the stream above a stream, where it is known.
 */
export function mergeTies<T extends OrderItem>(
  group: readonly T[],
  parentOf: (stream: string) => string | undefined,
): T[] {
  if (isOneStream(group)) return inStreamOrder([...group]);
  const lanes = lanesOf(group, parentOf);
  const merged: T[] = [];
  for (;;) {
    const lane = nextLane(lanes);
    if (lane === undefined) return merged;
    let item = lane.items[lane.next];
    const text = item?.text;
    while (item !== undefined && item.text === text) {
      merged.push(item);
      lane.next += 1;
      if (opens(item)) lane.opening -= 1;
      if (closes(item)) for (const above of lane.above) above.closingBelow -= 1;
      item = lane.items[lane.next];
    }
  }
}

function isOneStream(group: readonly OrderItem[]): boolean {
  const stream = group[0]?.place().stream;
  return group.every((item) => item.place().stream === stream);
}

/** Sorts the items of one stream. */
function inStreamOrder<T extends OrderItem>(items: T[]): T[] {
  const sequenced = items.every((item) => item.sequence !== undefined);
  return items.sort(sequenced ? compareBySequence : compareByRank);
}

function nextLane<T extends OrderItem>(lanes: readonly Lane<T>[]): Lane<T> | undefined {
  let best: Lane<T> | undefined;
  let bestItem: T | undefined;
  let bestFree = false;
  for (const lane of lanes) {
    const item = lane.items[lane.next];
    if (item === undefined) continue;
    const free = isFree(lane, item);
    const better = free === bestFree ? isBefore(item, bestItem) : free;
    if (bestItem === undefined || better) {
      best = lane;
      bestItem = item;
      bestFree = free;
    }
  }
  return best;
}

function isBefore(item: OrderItem, best: OrderItem | undefined): boolean {
  return best === undefined || compareAcross(item, best) < 0;
}

function isFree<T extends OrderItem>(lane: Lane<T>, item: T): boolean {
  if (opens(item)) return lane.above.every((above) => above.opening === 0);
  return !closes(item) || lane.closingBelow === 0;
}

function lanesOf<T extends OrderItem>(
  group: readonly T[],
  parentOf: (stream: string) => string | undefined,
): Lane<T>[] {
  const byStream = new Map<string, T[]>();
  const parents = new Map<string, string>();
  for (const item of group) {
    const { stream, parent } = item.place();
    const items = byStream.get(stream);
    if (items === undefined) byStream.set(stream, [item]);
    else items.push(item);
    // Of two starts that disagree the lesser counts, so that the order of arrival does not.
    const known = parents.get(stream);
    if (parent !== undefined && (known === undefined || parent < known))
      parents.set(stream, parent);
  }
  const lanes = new Map<string, Lane<T>>();
  for (const [stream, items] of byStream) {
    inStreamOrder(items);
    const opening = items.filter(opens).length;
    lanes.set(stream, { items, next: 0, above: [], opening, closingBelow: 0 });
  }
  if (lanes.size > 1) {
    for (const [stream, lane] of lanes) {
      const parent = (name: string) => parents.get(name) ?? parentOf(name);
      lane.above = lanesAbove(stream, lanes, parent);
      const closing = lane.items.filter(closes).length;
      for (const above of lane.above) above.closingBelow += closing;
    }
  }
  return [...lanes.values()];
}

function lanesAbove<T>(
  stream: string,
  lanes: ReadonlyMap<string, Lane<T>>,
  parentOf: (stream: string) => string | undefined,
): Lane<T>[] {
  const found: Lane<T>[] = [];
  const own = lanes.get(stream);
  let name = parentOf(stream);
  for (let level = 0; name !== undefined && level < MAX_NESTING; level += 1) {
    const lane = lanes.get(name);
    if (lane === own) break;
    if (lane !== undefined) found.push(lane);
    name = parentOf(name);
  }
  return found;
}
