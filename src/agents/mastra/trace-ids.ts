import { v7 as uuidv7 } from "uuid";

/** Maximum age of a run in ms, by the time in its UUID. Runs do not wait longer than a year. */
const MOST_AGE_MS = 366 * 86_400_000;
/** Maximum clock difference to another machine, in ms. */
const MOST_AHEAD_MS = 3_600_000;
/** Maximum number of trace IDs that were made and not used yet. */
const MOST_MADE = 1_000;

/** A UUID v7 without dashes. */
const FORM = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/**
 * Derives Mastra's trace IDs from run IDs. So Mastra's `traceId` equals the trace ID of the bridge, and every process
 * knows the run behind a resumed trace.
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
    // The span ID of a root run is the last 8 bytes of its run ID.
    return { traceId, spanId: traceId.slice(16) };
  }

  /** The run ID of a trace that was made here. Each is returned once. */
  takeRunId(traceId: string): string | undefined {
    return this.#made.delete(traceId) ? dashed(traceId) : undefined;
  }
}

/** The run of a trace that this or another process made. `undefined`: Mastra chose the ID. */
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
