import type { SegmentRows } from "./run-rows.ts";

/** A run's segment that ended with the event: its span waits for its rows, and so may the sender. */
export class SegmentEnd {
  readonly #rows: SegmentRows;
  readonly #insists: boolean;

  /** @param insists upstream's agent aborts on an error here; at other ends it has its own to tell. */
  constructor(rows: SegmentRows, insists: boolean) {
    this.#rows = rows;
    this.#insists = insists;
  }

  settled(): Promise<void> | undefined {
    const rows = this.#rows;
    if (rows.pending === 0 && rows.failure === undefined) return undefined;
    const settled = rows.settled().then(() => {
      if (this.#insists && rows.failure !== undefined) throw rows.failure.error;
    });
    return droppable(settled);
  }
}

/** The same promise: a process whose agent does not look at it must not end by its rejection. */
export function droppable(told: Promise<void>): Promise<void> {
  told.catch(() => {});
  return told;
}
