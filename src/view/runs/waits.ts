import { WaitedTime } from "../../otel/metrics/waited-time.ts";
import type { Wait } from "./run-facts.ts";
import type { RunTrees } from "./run-trees.ts";

/** Waits of a run that are held until its end; of further ones the oldest are let go. */
const MOST = 256;

/**
 * Waits for people of runs that have not ended. When a run ends they become one number, and those above it get them:
 * while a child run waits, so do they.
 */
export class Waits {
  readonly #open = new Map<number, Map<string, Wait>>();

  add(row: number, waits: readonly Wait[]): void {
    if (waits.length === 0) return;
    const known = this.#open.get(row) ?? new Map<string, Wait>();
    for (const [at, wait] of waits.entries()) {
      // The span of a run says it better than that of the call, and comes after it.
      known.set(wait.callId === "" ? `${at} ${wait.to}` : wait.callId, wait);
      const [oldest] = known.keys();
      if (known.size > MOST && oldest !== undefined) known.delete(oldest);
    }
    this.#open.set(row, known);
  }

  /** How long an open run has waited so far, in ms. */
  ms(row: number): number {
    const waited = new WaitedTime();
    for (const { from, to } of this.#open.get(row)?.values() ?? []) waited.add(from, to);
    return waited.ms;
  }

  /** The run has ended. @returns how long it had waited, in ms. */
  end(row: number, trees: RunTrees): number {
    const ms = this.ms(row);
    const waits = this.#open.get(row);
    this.#open.delete(row);
    const parent = trees.parentOf(row);
    if (waits !== undefined && parent !== undefined) this.add(parent, [...waits.values()]);
    return ms;
  }
}
