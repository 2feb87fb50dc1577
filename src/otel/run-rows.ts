import type { RowAnchor } from "../audit/audit-row.ts";
import { type RowWaiter, tellWhenStored } from "../audit/row-waiter.ts";
import type { Run } from "../lifecycle/run.ts";
import type { AuditAnchor } from "./otel-driver.ts";
import type { SpanHandle } from "./span-handle.ts";
import { within } from "./within.ts";

type Finish = (anchor?: AuditAnchor) => void;

/** The audit rows of one segment of a run: what is on its way, what is stored, what failed. */
export class Rows implements RowWaiter {
  pending = 0;
  last: RowAnchor | undefined = undefined;
  failure: { readonly error: unknown } | undefined = undefined;
  finish: Finish | undefined = undefined;
  readonly #fate: RowWaiter;
  readonly #ending: Set<Rows>;
  #settled: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;

  /**
   * @param fate told of each row, before what follows from it.
   * @param ending the rows whose run has ended and which are not all stored.
   */
  constructor(fate: RowWaiter, ending: Set<Rows>) {
    this.#fate = fate;
    this.#ending = ending;
  }

  stored(anchor: RowAnchor): void {
    this.#fate.stored(anchor);
    if (this.last === undefined || isHigher(anchor, this.last)) this.last = anchor;
    this.#done();
  }

  failed(error: unknown): void {
    this.#fate.failed(error);
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

  /** Ends the run's span, if it waits, and wakes who waits for that. */
  release(): void {
    const { finish } = this;
    this.finish = undefined;
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

/**
 * Keeps the end of a run's span back until the run's audit rows are stored (or have failed), so that
 * the span can carry the last one.
 */
export class RunRows {
  /** Rows of the run whose end was asked for last; `undefined` when it had none. */
  held: Rows | undefined = undefined;
  readonly #fate: RowWaiter;
  readonly #open = new Map<Run<SpanHandle>, Rows>();
  readonly #ending = new Set<Rows>();

  /** @param fate told of each row. */
  constructor(fate: RowWaiter) {
    this.#fate = fate;
  }

  /** A row of the run, or of none that is known, is on its way: who is to be told of it. */
  waiterOf(run: Run<SpanHandle> | undefined): RowWaiter {
    if (run === undefined) return this.#fate;
    const rows = this.#rowsOf(run);
    rows.pending++;
    return rows;
  }

  /** A row of the run is being stored. @returns resolves when that is noted; never rejects. */
  track(run: Run<SpanHandle> | undefined, row: Promise<RowAnchor>): Promise<void> {
    return tellWhenStored(row, this.waiterOf(run));
  }

  /** Resolves when no row of the open run is on its way any more; `undefined` where none is. */
  arrived(run: Run<SpanHandle>): Promise<void> | undefined {
    const rows = this.#open.get(run);
    return rows === undefined || rows.pending === 0 ? undefined : rows.settled();
  }

  /** Called when a run's span is to end: at once, or when its rows are stored. */
  hold(run: Run<SpanHandle>, finish: Finish): void {
    const rows = this.#open.get(run);
    this.held = rows;
    if (rows === undefined) {
      finish();
      return;
    }
    this.#open.delete(run);
    rows.finish = finish;
    if (rows.pending === 0) rows.release();
    else this.#ending.add(rows);
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

  #rowsOf(run: Run<SpanHandle>): Rows {
    // A late row of a run that has ended has no span to stand on.
    const known = this.#open.get(run);
    if (known !== undefined) return known;
    const rows = new Rows(this.#fate, this.#ending);
    if (run.open) this.#open.set(run, rows);
    return rows;
  }
}

/**
 * A redelivered row has the ordinal it had: the last row is the highest. Of a run with rows in several
 * threads two may be; which is stored first must not tell.
 */
function isHigher(a: RowAnchor, b: RowAnchor): boolean {
  return a.ordinal > b.ordinal || (a.ordinal === b.ordinal && a.hash > b.hash);
}
