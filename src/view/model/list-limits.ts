/** Runs of the list. The newest are shown. */
export const MOST_LISTED = 100_000;

/** Runs, spans and audit rows of a print, of each. */
export const MOST_PRINTED = 500;

/** Values that a filter shows. Others are found by typing a part of them. */
export const MOST_VALUES = 100;
