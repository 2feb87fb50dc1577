import { fileLines } from "../../storage/file-lines.ts";
import type { RowAnchor } from "../audit-row.ts";
import { threadText } from "../thread-text.ts";
import { type LogLine, readLogLine } from "./log-line.ts";
import type { SealedSegment } from "./sealed-segment.ts";
import type { SeenEvents } from "./seen-events.ts";
import type { SegmentStore } from "./segment-store.ts";

/** A row that has an event id, by the name of its event. */
export interface SeenRow {
  readonly name: string;
  readonly place: RowAnchor;
}

/** Gathers the events of the last rows read, at most twice as many as are wanted. */
export class LatelySeen {
  readonly #wanted: number;
  #rows: SeenRow[] = [];

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** Takes a line in the order of the log. */
  take(line: LogLine): void {
    const seen = seenRow(line);
    if (seen === undefined) return;
    this.#rows.push(seen);
    if (this.#rows.length > 2 * this.#wanted) this.#rows = this.#rows.slice(-this.#wanted);
  }

  /** Hands them over, the oldest first. */
  giveTo(seen: SeenEvents): void {
    for (const { name, place } of this.#rows.slice(-this.#wanted)) seen.stored(name, place);
    this.#rows = [];
  }
}

/** Takes up the events of the last sealed segments that hold `rows` rows together. */
export async function recallSealed(
  store: SegmentStore,
  sealed: readonly SealedSegment[],
  rows: number,
  seen: SeenEvents,
): Promise<void> {
  let left = rows;
  let first = sealed.length;
  while (first > 0 && left > 0) {
    first -= 1;
    left -= sealed[first]?.rows ?? 0;
  }
  for (const { number } of sealed.slice(first)) {
    const found = (await rowsWithEvents(store, number)) ?? [];
    for (const { name, place } of found) seen.stored(name, place);
  }
}

/**
 * The rows of a sealed segment that have event ids, as far as they are valid; `undefined` where it was
 * taken elsewhere, as one in the archive may be.
 */
export async function rowsWithEvents(
  store: SegmentStore,
  segment: number,
): Promise<readonly SeenRow[] | undefined> {
  const rows: SeenRow[] = [];
  const found = await store.open(segment);
  if (found === undefined) return undefined;
  try {
    for await (const { bytes, tooLong } of fileLines(found.file, found.bytes)) {
      const row = tooLong ? undefined : seenRow(readLogLine(bytes));
      if (row !== undefined) rows.push(row);
    }
  } finally {
    await found.file.close();
  }
  return rows;
}

function seenRow(line: LogLine): SeenRow | undefined {
  if (line.type !== "row" || line.row.event_id === null) return undefined;
  const { event_id, hash, ordinal } = line.row;
  return { name: threadText(line.row) + event_id, place: { ordinal, hash } };
}
