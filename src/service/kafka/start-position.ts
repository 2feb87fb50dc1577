/** Where a partition's log begins and ends. */
export interface LogRange {
  readonly first: number;
  /** The offset that the next record will have. */
  readonly end: number;
}

export interface StartRules {
  readonly lookback: number;
  /** Where nothing was committed, what the log has already is not wanted. */
  readonly fromEnd: boolean;
}

export interface StartPosition {
  /** What is before it is stored already. */
  readonly from: number;
  /** Where reading begins. */
  readonly start: number;
  /** What is wrong where the log no longer has what was committed. */
  readonly missing: string | undefined;
}

/**
 * Where reading of a partition begins: a lookback before the committed offset, as far as the log goes
 * back.
 *
 * @param committed `undefined`: nothing was.
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
