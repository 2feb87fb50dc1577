import { RecentMap } from "../../events/door.ts";
import { type RowAnchor, threadText } from "../audit-row.ts";
import { fileLines } from "../storage/file-lines.ts";
import { type LogLine, readLogLine } from "./log-line.ts";
import type { SealedSegment, SegmentStore } from "./segment-store.ts";

/** More than a segment of some gigabytes has, and fewer than a Map takes. */
const MAX_OF_SEGMENT = 2 ** 23;

/**
 * Where the rows of the last events are, so that a redelivered event is not written twice. Events
 * go by their name: the text of their thread and their id.
 *
 * At least `least` event ids are remembered, and at most twice as many: about 300 bytes each. Or, where
 * those of sealed segments are looked up, those of the segment being written and of the one before.
 */
export class EventCache {
  readonly #stored: RecentMap<RowAnchor>;
  readonly #bySegment: boolean;
  /** Queued and not yet stored; bounded by what the queue holds. */
  readonly #pending = new Map<string, RowAnchor>();

  constructor(least: number, bySegment = false) {
    this.#bySegment = bySegment;
    this.#stored = new RecentMap(bySegment ? Math.max(least, MAX_OF_SEGMENT) : least);
  }

  /** Where the event's row is, or will be. */
  anchorOf(name: string): RowAnchor | undefined {
    return this.#pending.get(name) ?? this.#stored.get(name);
  }

  /** Whether its row still waits to be stored. */
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

/** Collects the events of the last rows read, at most twice as many as are wanted. */
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
 * The valid rows of a sealed segment that have event ids. `undefined` where its file is gone: an archived one may be
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
