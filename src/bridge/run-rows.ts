import { type RowAnchor, type RowWaiter, reportWhenStored } from "../audit/door.ts";
import type { Run } from "./lifecycle/run.ts";
import type { AuditAnchor } from "./spans/otel-driver.ts";
import type { SpanHandle } from "./spans/span-handle.ts";
import { within } from "./spans/within.ts";

type Finish = (anchor: AuditAnchor) => void;

/**
 * The audit rows of one segment of a run: what is on its way, what is stored, what failed. They stand on
 * the segment's span, which ends when all are stored.
 */
export class SegmentRows implements RowWaiter {
  pending = 0;
  last: RowAnchor | undefined = undefined;
  failure: { readonly error: unknown } | undefined = undefined;
  #finish: Finish | undefined = undefined;
  readonly #outcomes: RowWaiter;
  readonly #ending: Set<SegmentRows>;
  #settled: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;

  /**
   * @param outcomes told of each row, before what follows from it.
   * @param ending the rows whose run has ended and which are not all stored.
   */
  constructor(outcomes: RowWaiter, ending: Set<SegmentRows>) {
    this.#outcomes = outcomes;
    this.#ending = ending;
  }

  stored(anchor: RowAnchor): void {
    this.#outcomes.stored(anchor);
    if (this.last === undefined || isHigher(anchor, this.last)) this.last = anchor;
    this.#done();
  }

  failed(error: unknown): void {
    this.#outcomes.failed(error);
    this.failure ??= { error };
    this.#done();
  }

  /** Resolves when nothing is on its way any more and the run's span has ended. */
  settled(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    this.#settled ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#settled;
  }

  /** The segment is over: its span ends at once, or when its rows are stored. */
  endWith(finish: Finish): void {
    this.#finish = finish;
    if (this.pending === 0) this.release();
    else this.#ending.add(this);
  }

  /** What kept the span from its end is done: the event that ended it has all its rows. */
  letGo(): void {
    this.#done();
  }

  /** Ends the run's span, if it waits, and wakes who waits for that. */
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

  #done(): void {
    this.pending--;
    if (this.pending > 0) return;
    this.#ending.delete(this);
    this.release();
  }
}

/** The audit rows of all runs. The end of a run's span waits for them, so that it can carry the last one. */
export class RunRows {
  readonly #outcomes: RowWaiter;
  readonly #ending = new Set<SegmentRows>();
  /** Events that are being taken; a hook may send one inside another. */
  #held = 0;
  /** Segments that ended meanwhile. */
  #heldBack: SegmentRows[] = [];

  /** @param outcomes told of each row. */
  constructor(outcomes: RowWaiter) {
    this.#outcomes = outcomes;
  }

  /** Until {@link letGo}, no span ends: the event that is being taken may leave the run's last row. */
  hold(): void {
    this.#held++;
  }

  /** The rows of the event are on their way. */
  letGo(): void {
    this.#held--;
    if (this.#held > 0 || this.#heldBack.length === 0) return;
    const all = this.#heldBack;
    this.#heldBack = [];
    for (const rows of all) rows.letGo();
  }

  /** A run's segment is over: its span ends at once, or when its rows are on their way and stored. */
  end(handle: SpanHandle, finish: Finish): void {
    if (this.#held > 0) {
      handle.rows ??= new SegmentRows(this.#outcomes, this.#ending);
      handle.rows.pending++;
      this.#heldBack.push(handle.rows);
    }
    if (handle.rows === undefined) finish(NO_ROWS);
    else handle.rows.endWith(finish);
  }

  /**
   * A row of the run, or of none that is known, is on its way: who is to be told of it.
   *
   * @param isLast the event of the row ended the run's segment just now.
   */
  waiterOf(run: Run<SpanHandle> | undefined, isLast = false): RowWaiter {
    if (run === undefined) return this.#outcomes;
    const rows = (isLast ? run.handle?.rows : undefined) ?? this.#rowsOf(run);
    rows.pending++;
    return rows;
  }

  /** A row of the run is being stored. @returns resolves when that is noted; never rejects. */
  track(run: Run<SpanHandle> | undefined, row: Promise<RowAnchor>): Promise<void> {
    return reportWhenStored(row, this.waiterOf(run));
  }

  /** Resolves when no row of the open run is on its way any more; `undefined` where none is. */
  arrived(run: Run<SpanHandle>): Promise<void> | undefined {
    const rows = run.open ? run.handle?.rows : undefined;
    return rows === undefined || rows.pending === 0 ? undefined : rows.settled();
  }

  /**
   * Waits until no run's end is held back, but no longer than `ms`.
   *
   * @returns whether that was so in time.
   */
  settle(ms: number): Promise<boolean> {
    return within(ms, Promise.all([...this.#ending].map((rows) => rows.settled())));
  }

  /**
   * Ends what still waits, marked as failed: nobody will come back to it.
   *
   * @param error for who waits to hear of the rows.
   * @returns whether anything waited.
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
    // A late row of a run that has ended has no span to stand on.
    if (!open || handle === undefined) return new SegmentRows(this.#outcomes, this.#ending);
    handle.rows ??= new SegmentRows(this.#outcomes, this.#ending);
    return handle.rows;
  }
}

const NO_ROWS: AuditAnchor = { ordinal: undefined, hash: undefined, failed: false };

/**
 * A redelivered row has the ordinal it had: the last row is the highest. Of a run with rows in several
 * threads two may be; which is stored first must not tell.
 */
function isHigher(a: RowAnchor, b: RowAnchor): boolean {
  return a.ordinal > b.ordinal || (a.ordinal === b.ordinal && a.hash > b.hash);
}
