import { threadText } from "../audit-row.ts";
import type { SegmentStore } from "./segment-store.ts";
import { rowsBetween, type SealedSegment } from "./thread-spans.ts";
import type { SealedSpan, ThreadTable } from "./thread-table.ts";

/**
 * Knows how many rows of each sealed segment are not archived yet, and moves a segment away when none
 * is left. One call at a time.
 */
export class SegmentArchive {
  readonly #store: SegmentStore;
  readonly #table: ThreadTable;
  readonly #onError: (error: unknown) => void;
  /** Rows not archived, by segment; counted when it is first needed. */
  readonly #live = new Map<number, number>();

  constructor(store: SegmentStore, table: ThreadTable, onError: (error: unknown) => void) {
    this.#store = store;
    this.#table = table;
    this.#onError = onError;
  }

  /** Counts the segments sealed since the last call. */
  async count(): Promise<void> {
    const uncounted = this.#table.sealed.filter(({ number }) => !this.#live.has(number));
    if (uncounted.length === 0) return;
    // A watermark never reaches beyond the rows there were, so only archive lines in a segment itself
    // and in later ones can cover its rows: the newest first, and every line counts once.
    const watermarks = new Map<string, number>();
    for (const [name, span] of this.#table.active) watermarks.set(name, span.archived);
    for (const segment of uncounted.toReversed()) {
      this.#live.set(segment.number, await this.#countOne(segment, watermarks));
    }
  }

  /** Takes off the rows of one thread from above `from` to `to`, and moves what is empty then. */
  async release(spans: readonly SealedSpan[], from: number, to: number): Promise<void> {
    for (const { segment, span } of spans) {
      const live = this.#live.get(segment.number);
      if (live === undefined) continue;
      this.#live.set(segment.number, live - rowsBetween(span, from, to));
    }
    for (const segment of this.#table.sealed) {
      if (segment.archived || this.#live.get(segment.number) !== 0) continue;
      try {
        await this.#store.moveToArchive(segment.number);
        segment.archived = true;
      } catch (error) {
        // The rows are archived all the same; the move is tried again with the next call.
        this.#onError(error);
      }
    }
  }

  async #countOne(segment: SealedSegment, watermarks: Map<string, number>): Promise<number> {
    let live = 0;
    for await (const span of this.#store.threadsOf(segment)) {
      const name = threadText(span);
      const watermark = Math.max(span.archived, watermarks.get(name) ?? 0);
      live += rowsBetween(span, 0, span.last) - rowsBetween(span, 0, watermark);
      if (watermark > 0) watermarks.set(name, watermark);
    }
    return live;
  }
}
