/** A statement: its parameters never stand in its text. */
export interface PgStatement {
  readonly text: string;
  readonly values?: unknown[];
}

/** What a statement gave. */
export interface PgResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** One connection, as the package `pg` has it. */
export interface PgClient {
  query(statement: PgStatement): Promise<PgResult>;
  /** @param error the connection is not to be used again. */
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** What of a `Pool` of the package `pg` is used. */
export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/**
 * Begins a transaction that sees, once it has the lock that it waited for, what was done meanwhile. The
 * default of a database, a role or a pool may be a stricter one, which fails there.
 */
export const BEGIN = "begin isolation level read committed";

/**
 * Runs something on a connection of its own, which goes back into the pool, or is closed where it
 * failed: nobody can know in which state it is.
 */
export async function withClient<T>(
  pool: PgPool,
  work: (client: PgClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks while it is ours says so also as an event, and the work by rejecting.
  const ignore = () => {};
  client.on("error", ignore);
  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } finally {
    client.off("error", ignore);
    client.release(failed);
  }
}

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
