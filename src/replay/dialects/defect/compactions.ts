import { type Instant, numberOf, type SignalAttributes } from "../../../events/door.ts";
import type { SignalList } from "./arrival.ts";
import type { ContextCompressed, ContextMicrocompacted } from "./events.ts";

export type Compaction = ContextCompressed | ContextMicrocompacted;

/** Number of compactions, and the tokens that they removed. */
export class Compactions {
  #count = 0;
  #removed = 0;

  /** Adds a compaction outside a turn. The next turn reports it in its totals. */
  add({ tokens_after, tokens_before }: Compaction): void {
    this.#count++;
    this.#removed += Math.max(0, Number(tokens_before) - Number(tokens_after));
  }

  /** Moves the totals of another object to this one. */
  takeFrom(other: Compactions): void {
    this.#count += other.#count;
    this.#removed += other.#removed;
    other.#count = 0;
    other.#removed = 0;
  }

  /** Reports a compaction: a span event of the run, and the totals. */
  note(event: Compaction, runId: string, at: Instant, out: SignalList): void {
    this.add(event);
    const micro = event.type === "context_microcompacted";
    out.add({
      tenantId: out.tenantId,
      runId,
      at,
      signal: "span_event",
      name: "entelix.context_compacted",
      attributes: {
        "entelix.compaction.kind": micro ? "micro" : "full",
        "entelix.compaction.original_tokens": numberOf(event.tokens_before),
        "entelix.compaction.new_tokens": numberOf(event.tokens_after),
        "entelix.compaction.cleared": micro ? numberOf(event.cleared) : undefined,
      } satisfies SignalAttributes,
    });
    this.report(runId, at, out);
  }

  /** Reports the totals. */
  report(runId: string, at: Instant, out: SignalList): void {
    if (this.#count === 0) return;
    out.add({
      tenantId: out.tenantId,
      runId,
      at,
      signal: "attributes",
      attributes: {
        "entelix.compaction.count": this.#count,
        "entelix.compaction.tokens_removed": numberOf(this.#removed),
      } satisfies SignalAttributes,
    });
  }
}
