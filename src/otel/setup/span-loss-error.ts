import type { LossReason } from "./loss-reason.ts";
import type { SpanCounts } from "./span-ledger.ts";

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
