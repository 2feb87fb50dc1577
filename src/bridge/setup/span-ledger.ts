import type { Reporter } from "../report.ts";

/**
 * Counts of sampled spans since the start, by delivery to the OTLP endpoint. `ended` is the sum of the
 * other four. All are 0 without OTLP.
 */
export interface SpanCounts {
  /** Spans that ended. */
  readonly ended: number;
  /** Spans that the endpoint confirmed. */
  readonly exported: number;
  /** Spans in requests that failed permanently. */
  readonly failed: number;
  /** Spans that were never in a request. */
  readonly dropped: number;
  /** Spans that wait or are being sent. */
  readonly pending: number;
  /** Failed and dropped spans, by reason. */
  readonly lost: Readonly<Record<LossReason, number>>;
}

/** Counts every sampled span that ended, by delivery state. */
export class SpanLedger {
  /** Called after each loss; the {@link LossReporter} sets it. */
  onLoss: () => void = () => {};
  /** Short text of the last export error. */
  lastError: string | undefined;
  #started = 0;
  #ended = 0;
  #exported = 0;
  #failed = 0;
  #dropped = 0;
  #queued = 0;
  readonly #lost: Record<LossReason, number> = {
    queue_full: 0,
    after_shutdown: 0,
    timeout: 0,
    unreachable: 0,
    rejected: 0,
    export_failed: 0,
  };

  /** Spans that wait for a request. */
  get queued(): number {
    return this.#queued;
  }

  /** Spans that have not ended. */
  get open(): number {
    return this.#started - this.#ended;
  }

  start(): void {
    this.#started++;
  }

  /** Counts a span that ended and waits. */
  queue(): void {
    this.#ended++;
    this.#queued++;
  }

  /** Counts a span that ended and was dropped. */
  drop(reason: "queue_full" | "after_shutdown"): void {
    this.#ended++;
    this.#dropped++;
    this.#lose(reason, 1);
  }

  /** Counts waiting spans that are now in a request. */
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
 * - `queue_full`: the queue was full when the span ended
 * - `after_shutdown`: the span ended after the provider's shutdown had begun
 * - `timeout`: the endpoint did not answer in time
 * - `unreachable`: the endpoint could not be reached
 * - `rejected`: the endpoint answered with an error status
 * - `export_failed`: any other error of the exporter
 */
export type LossReason = (typeof LOSS_REASONS)[number];

/** Every {@link LossReason}. */
export const LOSS_REASONS = [
  "queue_full",
  "after_shutdown",
  "timeout",
  "unreachable",
  "rejected",
  "export_failed",
] as const;

/** Error codes of Node for a connection that could not be made or did not last. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/;

/** Name of the error of a server that is not an OTLP receiver. */
export const NOT_OTLP = "NotOtlpError";

/** The reason of a failed export, from the exporter's error. */
export function reasonOfFailure(error: Error | undefined): LossReason {
  if (error === undefined) return "export_failed";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number" || error.name === NOT_OTLP) return "rejected";
  if (typeof code === "string" && NO_CONNECTION.test(code)) return "unreachable";
  // The exporter's errors differ only in their texts.
  if (code === "ETIMEDOUT" || /timed out/i.test(error.message)) return "timeout";
  return "export_failed";
}

/**
 * A short text of the error for the operator, with the address and the advice of a failed request. It never contains
 * the body of a response.
 */
export function shortText(error: Error): string {
  return `${withCode(error)}${moreOf(error)}`;
}

/** The address and the advice of a failed request, behind the text of its error. */
export function moreOf(error: Error): string {
  return "more" in error && typeof error.more === "string" ? error.more : "";
}

function withCode(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  const known = typeof code === "number" || typeof code === "string" ? String(code) : "";
  const text = textOf(error);
  return known === "" || text.includes(known) ? text : `${known} ${text}`;
}

/** If a host has several addresses, Node's AggregateError has no message of its own, only one for each address. */
function textOf(error: Error): string {
  if (error.message !== "") return error.message;
  const each: unknown[] = error instanceof AggregateError ? error.errors : [];
  const texts = each.flatMap((one) => (one instanceof Error ? one.message : []));
  return texts.join(", ") || error.name;
}

/** Lost spans by reason. At the end, `unconfirmed` are pending spans, and `open` are those that have not ended. */
type LostBy = Map<LossReason | "unconfirmed" | "open", number>;

/**
 * The error that `onError` receives when spans were lost.
 *
 * Check its `name`, not `instanceof`, since two copies of this package can be in one process.
 */
export class SpanLossError extends Error {
  override readonly name = "SpanLossError";
  /** Spans lost since the last report. In the report at shutdown, all lost spans. */
  readonly lost: number;
  /** Counts of all spans. In the report at shutdown, pending spans count as lost. */
  readonly counts: SpanCounts;

  /** @param advice what to do about it. */
  constructor(lostBy: LostBy, counts: SpanCounts, lastError: string | undefined, advice = "") {
    let lost = 0;
    const reasons: string[] = [];
    for (const [reason, spans] of lostBy) {
      if (spans === 0) continue;
      lost += spans;
      reasons.push(`${reason} ${spans}`);
    }
    const last = lastError === undefined ? "" : `; last error of an export: ${lastError}`;
    const open = lostBy.get("open") ?? 0;
    const all = `${counts.ended} that ended${open > 0 ? ` and ${open} that did not` : ""}`;
    super(`${lost} spans lost (${reasons.join(", ")}) of ${all}${advice}${last}`);
    this.lost = lost;
    this.counts = counts;
  }
}

/** Nothing can be sent any more when the process exits: by `process.exit`, or by an uncaught error. */
const AT_EXIT =
  ": call `await shutdown()` of the setup in `finally` and before process.exit, or set `handleErrors`";

/** Minimum interval between two reports in ms. */
const QUIET_MS = 60_000;

/** Reports lost spans of a ledger: soon after the first loss, then at most once a minute. */
export class LossReporter {
  readonly #ledger: SpanLedger;
  readonly #reporter: Reporter;
  /** Reported losses by reason. */
  #reported: SpanCounts["lost"];
  /** The reasons to report. After {@link total}, which includes pending spans, only `after_shutdown`. */
  #watched: readonly LossReason[] = LOSS_REASONS;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: SpanLedger, reporter: Reporter) {
    this.#ledger = ledger;
    this.#reporter = reporter;
    this.#reported = ledger.counts().lost;
    // On the next tick, so that a burst of losses is one report.
    ledger.onLoss = () => {
      if (this.#timer === undefined) this.#arm(0);
    };
  }

  /** Pauses reports until {@link total}, which includes all losses. */
  quiet(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched = [];
  }

  /**
   * Reports all losses since the start, and all spans that are not confirmed yet. At an exit, also those that are open.
   *
   * @param where context of the report.
   */
  total(where: "shutdown" | "exit"): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched = ["after_shutdown"];
    const counts = this.#ledger.counts();
    const lostBy: LostBy = new Map(LOSS_REASONS.map((reason) => [reason, counts.lost[reason]]));
    lostBy.set("unconfirmed", counts.pending);
    if (where === "exit") lostBy.set("open", this.#ledger.open);
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
    const advice = where === "exit" ? AT_EXIT : "";
    const error = new SpanLossError(lostBy, counts, this.#ledger.lastError, advice);
    if (error.lost > 0) this.#reporter.report(error, where);
    return error.lost > 0;
  }
}
