import type { Reporter } from "../report.ts";

/**
 * Counts of sampled spans since the start, by what happened to them on their way to the OTLP
 * endpoint. `ended` is always the sum of the other four. All are 0 without OTLP.
 */
export interface SpanCounts {
  /** Spans that ended. */
  readonly ended: number;
  /** Spans that the endpoint has confirmed. */
  readonly exported: number;
  /** Spans in requests that failed for good. */
  readonly failed: number;
  /** Spans that were never in a request. */
  readonly dropped: number;
  /** Spans that wait, or are in a request under way. */
  readonly pending: number;
  /** The failed and the dropped ones, by reason. */
  readonly lost: Readonly<Record<LossReason, number>>;
}

/** Counts every sampled span that ended, and what became of it. */
export class SpanLedger {
  /** Called after each loss; the {@link LossReporter} sets it. */
  onLoss: () => void = () => {};
  /** The last error of an export, in a few words. */
  lastError: string | undefined;
  #ended = 0;
  #exported = 0;
  #failed = 0;
  #dropped = 0;
  #queued = 0;
  readonly #lost: Record<LossReason, number> = {
    queue_full: 0,
    after_shutdown: 0,
    too_many_exports: 0,
    timeout: 0,
    unreachable: 0,
    rejected: 0,
    export_failed: 0,
  };

  /** Spans that wait to be put into a request. */
  get queued(): number {
    return this.#queued;
  }

  /** A span ended and waits. */
  queue(): void {
    this.#ended++;
    this.#queued++;
  }

  /** A span ended and can't wait. */
  drop(reason: "queue_full" | "after_shutdown"): void {
    this.#ended++;
    this.#dropped++;
    this.#lose(reason, 1);
  }

  /** Waiting spans are put into a request. */
  send(spans: number): void {
    this.#queued -= spans;
  }

  confirm(spans: number): void {
    this.#exported += spans;
  }

  fail(spans: number, error: Error | undefined): void {
    this.#failed += spans;
    if (error !== undefined) this.lastError = shortText(error);
    this.#lose(reasonOfFailure(error), spans);
  }

  counts(): SpanCounts {
    return {
      ended: this.#ended,
      exported: this.#exported,
      failed: this.#failed,
      dropped: this.#dropped,
      pending: this.#ended - this.#exported - this.#failed - this.#dropped,
      lost: { ...this.#lost },
    };
  }

  #lose(reason: LossReason, spans: number): void {
    this.#lost[reason] += spans;
    this.onLoss();
  }
}

/**
 * Why an ended span was lost.
 *
 * - `queue_full`: the queue was full when the span ended - `after_shutdown`: the span ended after
 *   the provider's shutdown had begun - `too_many_exports`: the exporter had too many concurrent
 *   requests
 * - `timeout`: the endpoint did not answer in time - `unreachable`: the endpoint could not be
 *   reached
 * - `rejected`: the endpoint answered with an error status - `export_failed`: any other error of
 *   the exporter
 */
export type LossReason = (typeof LOSS_REASONS)[number];

/** Every {@link LossReason}. */
export const LOSS_REASONS = [
  "queue_full",
  "after_shutdown",
  "too_many_exports",
  "timeout",
  "unreachable",
  "rejected",
  "export_failed",
] as const;

/** Error codes of Node for a connection that could not be made or did not last. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/;

/** Why an export failed, by the exporter's error. */
export function reasonOfFailure(error: Error | undefined): LossReason {
  if (error === undefined) return "export_failed";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return "rejected";
  if (typeof code === "string" && NO_CONNECTION.test(code)) return "unreachable";
  // The exporter's errors differ in their texts alone.
  if (code === "ETIMEDOUT" || /timed out/i.test(error.message)) return "timeout";
  if (/concurrent export limit/i.test(error.message)) return "too_many_exports";
  if (/retryable status/i.test(error.message)) return "rejected";
  return "export_failed";
}

/** The error in a few words for the operator; never the body of a response. */
export function shortText(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  const known = typeof code === "number" || typeof code === "string" ? String(code) : "";
  const text = textOf(error);
  return known === "" || text.includes(known) ? text : `${known} ${text}`;
}

/** Where a name has several addresses, Node has the words in the errors of each, and none of its own. */
function textOf(error: Error): string {
  if (error.message !== "") return error.message;
  const each: unknown[] = error instanceof AggregateError ? error.errors : [];
  const texts = each.flatMap((one) => (one instanceof Error ? one.message : []));
  return texts.join(", ") || error.name;
}

/** Lost spans by reason; `unconfirmed` are those that were still pending at the end. */
type LostBy = Map<LossReason | "unconfirmed", number>;

/**
 * The error that `onError` receives when spans were lost.
 *
 * Known by its `name`, since two copies of this package can be in one process.
 */
export class SpanLossError extends Error {
  override readonly name = "SpanLossError";
  /** Spans of this report: those since the last report, or all lost spans at shutdown. */
  readonly lost: number;
  /** Counts of all spans. In the report at shutdown, pending spans count as lost. */
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
