import type { CostEstimates } from "./estimates.ts";
import type { OriginalSpan } from "./span-facts.ts";
import type { Trace } from "./traces.ts";

export interface RunIndexOptions {
  /** Default 100,000. */
  readonly mostRuns?: number | undefined;
  /** ID of a run that is retained with all runs below it, and with those before and after its pauses, if they are known. */
  readonly wanted?: string | undefined;
  /** Estimates costs that the senders do not say. Default: such costs are not known. */
  readonly estimates?: CostEstimates | undefined;
  /** Reads the spans of a trace that are in the file of spans. Default: there is no file. */
  readonly readTrace?: ((trace: Trace) => readonly OriginalSpan[]) | undefined;
}

/** How a span came to the index. */
export interface Arrival {
  /** Default 0. */
  readonly source?: number;
  /** It was counted before, as an open one. */
  readonly counted?: boolean;
  /** It was made of a recording, which has each span once. */
  readonly isMade?: boolean;
}
