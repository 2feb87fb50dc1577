import type { RowAnchor } from "../audit/audit-row.ts";
import type { Run } from "../lifecycle/run.ts";
import type { AuditAnchor } from "./otel-driver.ts";
import type { SpanHandle } from "./span-handle.ts";

type Finish = (anchor?: AuditAnchor) => void;

/** The audit rows of one segment of a run: what is on its way, what is stored, what failed. */
export class Rows {
  pending = 0;
  last: RowAnchor | undefined = undefined;
  failure: { readonly error: unknown } | undefined = undefined;
  finish: Finish | undefined = undefined;
  #settled: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;

  /** Resolves when nothing is on its way any more and the run's span has ended. */
  settled(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    this.#settled ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#settled;
  }

  /** Ends the run's span, if it waits, and wakes who waits for that. */
  release(cutShort = false): void {
    const { finish } = this;
    this.finish = undefined;
    finish?.({
      ordinal: this.last?.ordinal,
      hash: this.last?.hash,
      failed: cutShort || this.failure !== undefined,
    });
    this.#resolve?.();
  }
}

/**
 * Keeps the end of a run's span back until the run's audit rows are stored (or have failed), so that
 * the span can carry the last one.
 */
export class RunRows {
  /** Rows of the run whose end was asked for last; `undefined` when it had none. */
  held: Rows | undefined = undefined;
  readonly #open = new Map<Run<SpanHandle>, Rows>();
  readonly #ending = new Set<Rows>();

  /** A row of the run is being stored. The promise is taken care of: it never goes unhandled. */
  track(run: Run<SpanHandle>, row: Promise<RowAnchor>): Promise<void> {
    const rows = this.#rowsOf(run);
    rows.pending++;
    const done = () => {
      rows.pending--;
      if (rows.pending > 0) return;
      this.#ending.delete(rows);
      rows.release();
    };
    return row.then(
      (anchor) => {
        if (rows.last === undefined || isHigher(anchor, rows.last)) rows.last = anchor;
        done();
      },
      (error: unknown) => {
        rows.failure ??= { error };
        done();
      },
    );
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

  /** Waits until no run's end is held back, but no longer than `ms`. */
  async settle(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.all([...this.#ending].map((rows) => rows.settled())), bound]);
    clearTimeout(timer);
  }

  /** Ends what still waits, marked as failed: nobody will come back to it. */
  giveUp(): void {
    for (const rows of this.#ending) rows.release(true);
    this.#ending.clear();
  }

  #rowsOf(run: Run<SpanHandle>): Rows {
    // A late row of a run that has ended has no span to stand on.
    const known = this.#open.get(run);
    if (known !== undefined) return known;
    const rows = new Rows();
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
