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
 * Begins a transaction of several round trips. The server ends it if this process stops in between (a
 * paused container, a machine that sleeps): it must not hold locks, or old rows, for longer than that.
 *
 * @param characteristics isolation and access, as they stand in SQL.
 */
export function begin(characteristics: string): PgStatement {
  return {
    text: `begin ${characteristics}; set local idle_in_transaction_session_timeout = '60s'; set local lock_timeout = '30s'`,
  };
}

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

/** Whether a lock of another transaction was waited for, and not had in time. */
export function isLocked(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/**
 * Runs a statement that is a transaction of its own. Where it meets another one nothing is left of it,
 * and the connection is as good as before.
 *
 * @param onDoubt called with the error when it was sent and nobody knows whether it was done.
 * @returns the answer, or the error of a collision or of a lock.
 */
export function tryStatement(
  pool: PgPool,
  statement: PgStatement,
  onDoubt: (error: unknown) => void = () => {},
): Promise<PgResult | Error> {
  return withClient(pool, async (client) => {
    try {
      return await client.query(statement);
    } catch (error) {
      if (!isRefusal(error)) onDoubt(error);
      if (error instanceof Error && (isCollision(error) || isLocked(error))) return error;
      throw error;
    }
  });
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** How long to wait before another try, in ms. @param tries made so far. */
export function pauseMs(tries: number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
  return most * (0.5 + Math.random() / 2);
}

/** Whether it is about what was to be written, so that the rest of a batch may go without it. */
export function isAboutData(error: unknown): boolean {
  return /^(?:22|23|54)/.test(sqlState(error) ?? "");
}
