import type { RowAnchor, RowWaiter } from "../audit/door.ts";
import type { AgentEvent } from "../events/door.ts";
import type { Run } from "./lifecycle/door.ts";
import type { AuditAnchor } from "./spans/otel-driver.ts";
import type { SpanHandle } from "./spans/span-handle.ts";
import { within } from "./spans/within.ts";

type Finish = (anchor: AuditAnchor) => void;

/**
 * The audit rows of one segment of a run: how many are pending, the last stored one, and the first
 * error. The segment's span carries the last row, so the span ends when all rows are stored.
 */
export class SegmentRows implements RowWaiter {
  pending = 0;
  last: RowAnchor | undefined = undefined;
  failure: { readonly error: unknown } | undefined = undefined;
  #finish: Finish | undefined = undefined;
  /** The event that ended the segment may still add rows. */
  #awaitsEvent = false;
  readonly #outcomes: RowWaiter;
  readonly #ending: Set<SegmentRows>;
  #settled: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;

  /**
   * @param outcomes called with the outcome of each row first.
   * @param ending the segments that have ended and have pending rows.
   */
  constructor(outcomes: RowWaiter, ending: Set<SegmentRows>) {
    this.#outcomes = outcomes;
    this.#ending = ending;
  }

  stored(anchor: RowAnchor, appends = 1): void {
    this.#outcomes.stored(anchor);
    if (this.last === undefined || isHigher(anchor, this.last)) this.last = anchor;
    this.#done(appends);
  }

  failed(error: unknown, appends = 1): void {
    this.#outcomes.failed(error, appends);
    this.failure ??= { error };
    this.#done(appends);
  }

  /** Resolves when no row is pending and the segment's span has ended. */
  settled(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    this.#settled ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#settled;
  }

  /**
   * Resolves when no row is pending. `undefined` if all rows are stored already.
   *
   * @param rejects whether the promise rejects if a row could not be stored.
   */
  whenStored(rejects: boolean): Promise<void> | undefined {
    if (this.pending === 0 && this.failure === undefined) return undefined;
    const stored = this.settled().then(() => {
      if (rejects && this.failure !== undefined) throw this.failure.error;
    });
    return droppable(stored);
  }

  /**
   * The segment has ended. `finish` is called at once, or when no row is pending.
   *
   * @param byEvent the rows of the event that ended it follow, until {@link eventDone}.
   */
  endWith(finish: Finish, byEvent: boolean): void {
    this.#finish = finish;
    if (byEvent) {
      this.#awaitsEvent = true;
      this.pending++;
    }
    if (this.pending === 0) this.release();
    else this.#ending.add(this);
  }

  /** The event that ended the segment has added its rows. Does nothing the second time. */
  eventDone(): void {
    if (!this.#awaitsEvent) return;
    this.#awaitsEvent = false;
    this.#done(1);
  }

  /** Ends the span, if it has not ended, and resolves {@link settled}. */
  release(): void {
    const finish = this.#finish;
    this.#finish = undefined;
    finish?.({
      ordinal: this.last?.ordinal,
      hash: this.last?.hash,
      failed: this.failure !== undefined,
    });
    this.#resolve?.();
    this.#resolve = undefined;
    this.#settled = undefined;
  }

  #done(appends: number): void {
    this.pending -= appends;
    if (this.pending > 0) return;
    this.#ending.delete(this);
    this.release();
  }
}

/** The audit rows of all runs. The end of a run's span waits for its rows. */
export class RunRows {
  readonly #outcomes: RowWaiter;
  readonly #ending = new Set<SegmentRows>();
  #ended: SegmentRows | undefined = undefined;

  /** @param outcomes called with the outcome of each row. */
  constructor(outcomes: RowWaiter) {
    this.#outcomes = outcomes;
  }

  /**
   * A segment of a run has ended. Its span ends at once, or when its rows are stored.
   *
   * @param byEvent an event ended it. The caller of the lifecycle adds the rows of the event, and then
   *   calls `eventDone` of what {@link takeEnded} returns.
   */
  end(handle: SpanHandle, finish: Finish, byEvent: boolean): void {
    if (byEvent) {
      handle.rows ??= new SegmentRows(this.#outcomes, this.#ending);
      this.#ended = handle.rows;
    }
    if (handle.rows === undefined) finish(NO_ROWS);
    else handle.rows.endWith(finish, byEvent);
  }

  /** The rows of the segment that the last signal ended. `undefined` if it ended none. */
  takeEnded(): SegmentRows | undefined {
    const ended = this.#ended;
    if (ended !== undefined) this.#ended = undefined;
    return ended;
  }

  /**
   * Registers a pending row, and returns the callback for its outcome.
   *
   * @param ended the segment that the row's event ended. Default: the open segment of the run.
   */
  waiterOf(run: Run<SpanHandle> | undefined, ended?: SegmentRows): RowWaiter {
    if (run === undefined) return this.#outcomes;
    const rows = ended ?? this.#rowsOf(run);
    rows.pending++;
    return rows;
  }

  /** Resolves when no row of the open run is pending. `undefined` if none is. */
  whenStored(run: Run<SpanHandle>): Promise<void> | undefined {
    const rows = run.open ? run.handle?.rows : undefined;
    return rows === undefined || rows.pending === 0 ? undefined : rows.settled();
  }

  /**
   * Waits until the spans of all ended segments have ended, but no longer than `ms`.
   *
   * @returns `false` after a timeout.
   */
  settle(ms: number): Promise<boolean> {
    return within(ms, Promise.all([...this.#ending].map((rows) => rows.settled())));
  }

  /**
   * Ends the spans that still wait for rows, and marks them as failed.
   *
   * @param error the failure of those rows.
   * @returns whether any span waited.
   */
  giveUp(error: Error): boolean {
    const left = [...this.#ending];
    this.#ending.clear();
    for (const rows of left) {
      rows.failure ??= { error };
      rows.release();
    }
    return left.length > 0;
  }

  #rowsOf(run: Run<SpanHandle>): SegmentRows {
    const { handle, open } = run;
    // The span of a run that has ended cannot carry a later row.
    if (!open || handle === undefined) return new SegmentRows(this.#outcomes, this.#ending);
    handle.rows ??= new SegmentRows(this.#outcomes, this.#ending);
    return handle.rows;
  }
}

/** The same promise, handled: an agent may ignore its rejection. */
export function droppable(stored: Promise<void>): Promise<void> {
  stored.catch(() => {});
  return stored;
}

/** The error for an event that comes after the shutdown. `undefined` if the event leaves no row. */
export function lostRowOf(event: AgentEvent | null | undefined): Error | undefined {
  // Senders in plain JavaScript are not held to the types.
  switch (event?.type) {
    case "started":
      return new Error("no run may start after the shutdown: it would have no audit rows");
    case "tool_start":
    case "tool_complete":
    case "tool_error":
    case "tool_call_approved":
    case "tool_call_denied":
    case "complete":
    case "failed":
    case "interrupted":
      return new Error(`no audit row of a ${event.type} after the shutdown`);
    default:
      return undefined;
  }
}

const NO_ROWS: AuditAnchor = { ordinal: undefined, hash: undefined, failed: false };

/**
 * The last row is the one with the highest ordinal, because a redelivered row has its old ordinal. A
 * run with rows in several threads may have two of them. The hash decides then, not the order of storing.
 */
function isHigher(a: RowAnchor, b: RowAnchor): boolean {
  return a.ordinal > b.ordinal || (a.ordinal === b.ordinal && a.hash > b.hash);
}
