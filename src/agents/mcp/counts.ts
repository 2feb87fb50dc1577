/** Counts of a wrapped client or server. All start at 0. */
export interface McpCounts {
  /** Calls that are tool calls of a run, or runs of a server. */
  readonly reported: number;
  /** Calls that a framework's adapter reports: they have no span of their own. */
  readonly shownElsewhere: number;
  /** Calls outside any run, with `loneCalls: "skip"` or without `sink` and `tenant`. */
  readonly skipped: number;
  /** Calls without a known tenant. */
  readonly refused: number;
  /** Requests of a server that could not be told to belong to one of several open calls. */
  readonly unplaced: number;
  /** Runs of a server that were given up because too many are open. */
  readonly forgotten: number;
  /** Events that a sink did not take. */
  readonly sinkFailures: number;
  /** Errors inside this package or of an option's function: they were kept from the SDK. */
  readonly troubles: number;
}

export type MutableCounts = { -readonly [Name in keyof McpCounts]: number };

export function noCounts(): MutableCounts {
  return {
    reported: 0,
    shownElsewhere: 0,
    skipped: 0,
    refused: 0,
    unplaced: 0,
    forgotten: 0,
    sinkFailures: 0,
    troubles: 0,
  };
}
