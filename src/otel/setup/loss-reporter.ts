import type { Reporter } from "../report.ts";
import { LOSS_REASONS, type LossReason } from "./loss-reason.ts";
import type { SpanCounts, SpanLedger } from "./span-ledger.ts";

/** Lost spans by reason; `unconfirmed` are those that were still pending at the end. */
export type LostBy = Map<LossReason | "unconfirmed", number>;

/**
 * What `onError` is told when spans were lost.
 *
 * Known by its `name`, since two copies of this package can be in one process.
 */
export class SpanLossError extends Error {
  override readonly name = "SpanLossError";
  /** Spans that this report is about: those since the last one, or all of them at shutdown. */
  readonly lost: number;
  /** Where all spans are. In the report at shutdown the pending ones are among the lost. */
  readonly counts: SpanCounts;

  constructor(lostBy: LostBy, counts: SpanCounts, lastError: string | undefined) {
    let lost = 0;
    const reasons: string[] = [];
    for (const [reason, spans] of lostBy) {
      if (spans === 0) continue;
      lost += spans;
      reasons.push(`${reason} ${spans}`);
    }
    const last = lastError === undefined ? "" : `; last error of an export: ${lastError}`;
    super(`${lost} spans lost (${reasons.join(", ")}) of ${counts.ended} that ended${last}`);
    this.lost = lost;
    this.counts = counts;
  }
}

/** Least time between two reports while the process runs, in ms. */
const QUIET_MS = 60_000;

/** Says how many spans a ledger has lost: soon after the first loss, then once a minute at most. */
export class LossReporter {
  readonly #ledger: SpanLedger;
  readonly #reporter: Reporter;
  /** What has been reported, by reason. */
  #reported: SpanCounts["lost"];
  /** After the total only new spans are news: it had those that were pending. */
  #watched: readonly LossReason[] = LOSS_REASONS;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: SpanLedger, reporter: Reporter) {
    this.#ledger = ledger;
    this.#reporter = reporter;
    this.#reported = ledger.counts().lost;
    // Not at once: the losses of one burst are one report.
    ledger.onLoss = () => {
      if (this.#timer === undefined) this.#arm(0);
    };
  }

  /** Reports nothing more until {@link total}: that has it all. */
  quiet(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched = [];
  }

  /**
   * Reports all that was lost since the start, and what is not confirmed by now.
   *
   * @param where what ends here, for the report.
   */
  total(where: "shutdown" | "exit"): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched = ["after_shutdown"];
    const counts = this.#ledger.counts();
    const lostBy: LostBy = new Map(LOSS_REASONS.map((reason) => [reason, counts.lost[reason]]));
    lostBy.set("unconfirmed", counts.pending);
    this.#report(lostBy, counts, where);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#reportNew()) this.#arm(QUIET_MS);
    }, ms);
    this.#timer.unref();
  }

  #reportNew(): boolean {
    const counts = this.#ledger.counts();
    const before = this.#reported;
    const lostBy: LostBy = new Map(
      this.#watched.map((reason) => [reason, counts.lost[reason] - before[reason]]),
    );
    return this.#report(lostBy, counts, "span loss");
  }

  #report(lostBy: LostBy, counts: SpanCounts, where: string): boolean {
    this.#reported = counts.lost;
    const error = new SpanLossError(lostBy, counts, this.#ledger.lastError);
    if (error.lost > 0) this.#reporter.report(error, where);
    return error.lost > 0;
  }
}
