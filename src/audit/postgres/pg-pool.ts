/** A statement. Its text never contains a parameter. */
export interface PgStatement {
  readonly text: string;
  readonly values?: unknown[];
}

/** The result of a statement. */
export interface PgResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A connection of the package `pg`. */
export interface PgClient {
  query(statement: PgStatement): Promise<PgResult>;
  /** @param error closes the connection instead of using it again. */
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of the package `pg`'s `Pool` that is used. */
export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}

/**
 * Begins a transaction of several round trips. The server ends it if this process stops in between, as in a paused
 * container. So it never holds locks or old row versions for long.
 *
 * @param characteristics isolation level and access mode, in SQL.
 */
export function begin(characteristics: string): PgStatement {
  return {
    text: `begin ${characteristics}; set local idle_in_transaction_session_timeout = '60s'; set local lock_timeout = '30s'`,
  };
}

/**
 * Runs `work` on a connection of the pool. If it fails, the connection is closed, because its state is unknown.
 */
export async function withClient<T>(
  pool: PgPool,
  work: (client: PgClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks while it is in use also emits an event. The work rejects anyway.
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

/** PostgreSQL's error code, of five characters. `undefined` for an error that is not the server's. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  // Node's own codes such as EPIPE can also have five letters. The server's all have a digit.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Whether an error says that the statement was not executed. Otherwise that is unknown: the connection broke or the
 * server shut down (class 57), perhaps after the commit.
 */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !state.startsWith("08") && !state.startsWith("57P");
}

/** Whether a retry of the statement may succeed, because it collided with another transaction. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** Whether waiting for another transaction's lock timed out. */
export function isLocked(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/**
 * Runs a statement that is a transaction of its own. After a collision nothing of it remains, and the connection
 * stays usable.
 *
 * @param onDoubt called with the error if the statement was sent and its outcome is unknown.
 * @returns the result, or the error of a collision or of a lock.
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

/** The pause before the next attempt, in ms. @param tries attempts so far. */
export function pauseMs(tries: number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
  return most * (0.5 + Math.random() / 2);
}

/** Whether the error is about the data of a call. Then the rest of a batch can be written without it. */
export function isAboutData(error: unknown): boolean {
  return /^(?:22|23|54)/.test(sqlState(error) ?? "");
}
