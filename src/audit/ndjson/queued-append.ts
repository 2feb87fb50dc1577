import type { RowAnchor } from "../audit-row.ts";
import type { NamedThread } from "../named-thread.ts";
import type { RowWaiter } from "../row-waiter.ts";
import type { ChainedRow } from "../thread-chain.ts";
import type { PendingHeads } from "./pending-heads.ts";
import type { SeenEvents } from "./seen-events.ts";
import type { ThreadTable } from "./thread-table.ts";
import type { QueuedCall } from "./write-queue.ts";

/** What the log keeps of its threads and events, in memory. */
export interface LogBooks {
  readonly table: ThreadTable;
  readonly pending: PendingHeads;
  readonly seen: SeenEvents;
}

/** An event that gets a row, by its name. */
interface NamedEvent {
  readonly name: string;
  readonly place: RowAnchor;
}

/** An append on its way to the disk: what is noted when it is queued, and when it is there. */
export class QueuedAppend implements QueuedCall {
  readonly #books: LogBooks;
  readonly #thread: NamedThread;
  /** Ordinal of its first row; `undefined` for an append without rows. */
  readonly #first: number | undefined;
  readonly #last: RowAnchor;
  readonly #events: readonly NamedEvent[];
  readonly #waiter: RowWaiter | undefined;

  /** @param last the place that the append answers with. */
  constructor(
    books: LogBooks,
    thread: NamedThread,
    rows: readonly ChainedRow[],
    last: RowAnchor,
    waiter: RowWaiter | undefined,
  ) {
    this.#books = books;
    this.#thread = thread;
    this.#first = rows[0]?.ordinal;
    this.#last = last;
    this.#events = eventsOf(rows);
    this.#waiter = waiter;
    for (const { name, place } of this.#events) books.seen.queued(name, place);
    if (this.#first !== undefined) books.pending.queued(thread, last);
  }

  committed(): void {
    const { pending, seen, table } = this.#books;
    if (this.#first !== undefined) {
      table.stored(this.#thread, this.#first, this.#last);
      pending.stored(this.#thread);
    }
    for (const { name, place } of this.#events) seen.stored(name, place);
  }

  stored(): void {
    this.#waiter?.stored(this.#last);
  }

  failed(error: Error): void {
    this.#waiter?.failed(error);
  }
}

const NO_EVENTS: readonly NamedEvent[] = [];

function eventsOf(rows: readonly ChainedRow[]): readonly NamedEvent[] {
  let events: NamedEvent[] | undefined;
  for (const { entry, hash, ordinal } of rows) {
    if (entry.event_name === null) continue;
    events ??= [];
    events.push({ name: entry.event_name, place: { ordinal, hash } });
  }
  return events ?? NO_EVENTS;
}
