/** Longest id or name, in UTF-16 units: no line that is read has a longer one, and no audit row. */
export const MOST_NAME = 4_096;
