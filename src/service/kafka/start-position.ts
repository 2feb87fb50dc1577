/** Start and end of a partition's log. */
export interface LogRange {
  readonly first: number;
  /** The offset of the next record. */
  readonly end: number;
}

export interface StartRules {
  readonly lookback: number;
  /** Whether partitions without a commit start at the end of the log. */
  readonly fromEnd: boolean;
}

export interface StartPosition {
  /** Results before this offset are stored. */
  readonly from: number;
  /** Where reading begins. */
  readonly start: number;
  /** Error text if the log no longer has the committed offset. */
  readonly missing: string | undefined;
}

/**
 * Where reading of a partition begins: `lookback` records before the committed offset, or at the beginning of the log.
 *
 * @param committed `undefined`: no commit.
 */
export function startPosition(
  committed: number | undefined,
  { first, end }: LogRange,
  { lookback, fromEnd }: StartRules,
): StartPosition {
  const from = committed ?? (fromEnd ? end : first);
  if (from > end) {
    const missing = `offset ${from} was committed, but the log ends at ${end}: the topic was made anew, so it is read from ${first} on`;
    return { from: first, start: first, missing };
  }
  if (from < first) {
    const missing = `offsets ${from} to ${first - 1} were removed from the log before they were stored`;
    return { from: first, start: first, missing };
  }
  return { from, start: Math.max(first, from - lookback), missing: undefined };
}
