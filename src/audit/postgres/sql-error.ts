/** The five characters by which PostgreSQL names an error; `undefined`: it is not one of the server's. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  // Node's own codes (EPIPE) can have five letters too; the server's all have a digit.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Whether an error says that the statement was not done. Otherwise nobody knows: the connection broke,
 * or the server ended (class 57), perhaps after the commit.
 */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !state.startsWith("08") && !state.startsWith("57P");
}

/** Whether the same statement may well succeed when it is tried again: it met another transaction. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** Whether it is about what was to be written, so that the rest of a batch may go without it. */
export function isAboutData(error: unknown): boolean {
  return /^(?:22|23|54)/.test(sqlState(error) ?? "");
}
