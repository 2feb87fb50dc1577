import { tenantKey } from "../../events/agent-event.ts";

/** A run that waits. */
export interface PausedRun {
  readonly runId: string;
  /** When it paused, in ms since 1970. */
  readonly at: number;
  /** A tool call waits for an approval. Otherwise its code, or a step, waits for data. */
  readonly isApproval: boolean;
}

const MOST_PAUSED = 10_000;

/** The last paused runs of this process, by tenant and by Mastra's ID of the run. */
export class PausedRuns {
  readonly #runs = new Map<string, PausedRun>();

  /** Gives it out once. */
  take(tenantId: string, mastraRunId: string | undefined): PausedRun | undefined {
    if (mastraRunId === undefined) return undefined;
    const key = tenantKey(tenantId, mastraRunId);
    const found = this.#runs.get(key);
    this.#runs.delete(key);
    return found;
  }

  add(tenantId: string, mastraRunId: string | undefined, run: PausedRun): void {
    if (mastraRunId === undefined) return;
    this.#runs.set(tenantKey(tenantId, mastraRunId), run);
    if (this.#runs.size <= MOST_PAUSED) return;
    for (const oldest of this.#runs.keys()) {
      this.#runs.delete(oldest);
      return;
    }
  }
}
