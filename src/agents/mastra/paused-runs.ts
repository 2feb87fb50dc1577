import { tenantKey } from "../../events/door.ts";

/** A run that waits. */
export interface PausedRun {
  readonly runId: string;
  /** When it paused, in ms since 1970. */
  readonly at: number;
  /** A tool call waits for an approval. Otherwise its code, or a step, waits for data. */
  readonly isApproval: boolean;
}

const MOST_PAUSED = 10_000;

/** The last paused runs of this process, by tenant and `pauseKey`. */
export class PausedRuns {
  readonly #runs = new Map<string, PausedRun>();

  /** Gives it out once. */
  take(tenantId: string, pauseKey: string | undefined): PausedRun | undefined {
    if (pauseKey === undefined) return undefined;
    const key = tenantKey(tenantId, pauseKey);
    const found = this.#runs.get(key);
    this.#runs.delete(key);
    return found;
  }

  add(tenantId: string, pauseKey: string | undefined, run: PausedRun): void {
    if (pauseKey === undefined) return;
    this.#runs.set(tenantKey(tenantId, pauseKey), run);
    if (this.#runs.size <= MOST_PAUSED) return;
    for (const oldest of this.#runs.keys()) {
      this.#runs.delete(oldest);
      return;
    }
  }
}
