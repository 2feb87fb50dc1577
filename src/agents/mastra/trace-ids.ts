import { v7 as uuidv7 } from "uuid";

/** How far a UUID's time may lie back, in ms: a run waits for no more than a year. */
const MOST_AGE_MS = 366 * 86_400_000;
/** How far the clock of another machine may be ahead, in ms. */
const MOST_AHEAD_MS = 3_600_000;
/** IDs of traces that were made and not seen since. */
const MOST_MADE = 1_000;

/** The form of a UUID v7 without dashes. */
const FORM = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/**
 * Makes the IDs of Mastra's traces from those of runs, so that Mastra's `traceId` is the trace that the
 * bridge makes, and the run behind a resumption is known in every process.
 */
export class TraceIds {
  readonly #made = new Set<string>();

  make(): { readonly traceId: string; readonly spanId: string } {
    const traceId = uuidv7().replaceAll("-", "");
    this.#made.add(traceId);
    for (const oldest of this.#made) {
      if (this.#made.size <= MOST_MADE) break;
      this.#made.delete(oldest);
    }
    // The span of a root run has the last 8 bytes of its run ID.
    return { traceId, spanId: traceId.slice(16) };
  }

  /** The ID of the run that begins a trace: once for each trace that was made here. */
  takeRunId(traceId: string): string | undefined {
    return this.#made.delete(traceId) ? dashed(traceId) : undefined;
  }
}

/** The run that a trace was made for, also by another process; `undefined` where Mastra chose the ID. */
export function runOfTrace(traceId: string): string | undefined {
  if (!FORM.test(traceId)) return undefined;
  const age = Date.now() - Number.parseInt(traceId.slice(0, 12), 16);
  return age <= MOST_AGE_MS && age >= -MOST_AHEAD_MS ? dashed(traceId) : undefined;
}

function dashed(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}
