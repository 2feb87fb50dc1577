/** Rows that the list has. Browsers scroll some 33 million pixels at most; a row of a narrow page has about 100. */
export const MOST_ROWS = 300_000;

/** Runs, spans and audit rows that a print has, of each. */
export const MOST_PRINTED = 500;

/** Values that a filter shows. Others are found by typing a part of them. */
export const MOST_VALUES = 100;
