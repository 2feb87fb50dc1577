import { RecentMap } from "../../events/door.ts";
import { type RowAnchor, threadText } from "../audit-row.ts";
import { fileLines } from "../storage/file-lines.ts";
import { type LogLine, readLogLine } from "./log-line.ts";
import type { SealedSegment, SegmentStore } from "./segment-store.ts";

/** More rows than a segment of several gigabytes has, and fewer entries than a `Map` allows. */
const MAX_OF_SEGMENT = 2 ** 23;

/**
 * The rows of recent events, so that a redelivered event is not written twice. The name of an event is the text of
 * its thread and its ID.
 *
 * It holds at least `least` event IDs and at most twice as many, with about 300 bytes each. If those of sealed
 * segments are looked up, it holds the IDs of the segment being written and of the previous one.
 */
export class EventCache {
  readonly #stored: RecentMap<RowAnchor>;
  readonly #bySegment: boolean;
  /** Queued and not yet stored. The queue bounds them. */
  readonly #pending = new Map<string, RowAnchor>();

  constructor(least: number, bySegment = false) {
    this.#bySegment = bySegment;
    this.#stored = new RecentMap(bySegment ? Math.max(least, MAX_OF_SEGMENT) : least);
  }

  /** The event's row, stored or queued. */
  anchorOf(name: string): RowAnchor | undefined {
    return this.#pending.get(name) ?? this.#stored.get(name);
  }

  /** Whether the event's row is not stored yet. */
  isQueued(name: string): boolean {
    return this.#pending.has(name);
  }

  queued(name: string, anchor: RowAnchor): void {
    this.#pending.set(name, anchor);
  }

  stored(name: string, anchor: RowAnchor): void {
    this.#pending.delete(name);
    this.#stored.set(name, anchor);
  }

  /** The segment being written was sealed. */
  sealed(): void {
    if (this.#bySegment) this.#stored.nextGeneration();
  }

  /** None of the queued rows was stored. */
  forgetQueued(): void {
    this.#pending.clear();
  }
}

/** A row that has an event id, by the name of its event. */
export interface EventRow {
  readonly name: string;
  readonly anchor: RowAnchor;
}

/** Collects the events of the rows read last, at most twice as many as wanted. */
export class LastEvents {
  readonly #wanted: number;
  #rows: EventRow[] = [];

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** Takes a line in the order of the log. */
  take(line: LogLine): void {
    const row = eventRow(line);
    if (row === undefined) return;
    this.#rows.push(row);
    if (this.#rows.length > 2 * this.#wanted) this.#rows = this.#rows.slice(-this.#wanted);
  }

  /** Adds them to the cache, the oldest first. */
  giveTo(events: EventCache): void {
    for (const { name, anchor } of this.#rows.slice(-this.#wanted)) events.stored(name, anchor);
    this.#rows = [];
  }
}

/** Loads the events of the last sealed segments that together hold `rows` rows. */
export async function recallSealed(
  store: SegmentStore,
  sealed: readonly SealedSegment[],
  rows: number,
  events: EventCache,
): Promise<void> {
  let left = rows;
  let first = sealed.length;
  while (first > 0 && left > 0) {
    first -= 1;
    left -= sealed[first]?.rows ?? 0;
  }
  for (const { number } of sealed.slice(first)) {
    const found = (await rowsWithEvents(store, number)) ?? [];
    for (const { name, anchor } of found) events.stored(name, anchor);
  }
}

/**
 * The valid rows of a sealed segment that have event IDs. `undefined` if its file is gone: an archived segment may be
 * moved elsewhere.
 */
export function rowsWithEvents(
  store: SegmentStore,
  segment: number,
): Promise<readonly EventRow[] | undefined> {
  return store.read(segment, async (found) => {
    const rows: EventRow[] = [];
    for await (const { bytes, tooLong } of fileLines(found.file, found.bytes)) {
      const row = tooLong ? undefined : eventRow(readLogLine(bytes));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  });
}

function eventRow(line: LogLine): EventRow | undefined {
  if (line.type !== "row" || line.row.event_id === null) return undefined;
  const { event_id, hash, ordinal } = line.row;
  return { name: threadText(line.row) + event_id, anchor: { ordinal, hash } };
}
