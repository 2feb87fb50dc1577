import type { PgPool } from "./pg-pool.ts";

export interface OpenPoolOptions {
  /** `postgres://…`, as the package `pg` takes it. */
  readonly connection: string;
  /** Connections open at a time, at most. */
  readonly connections: number;
  /** Told of connections that break while nobody uses them. */
  readonly onError: (error: unknown) => void;
}

/** How long connecting may take, in ms. */
const CONNECT_MS = 10_000;
/** How long the answer to a statement may take, in ms; then the connection counts as broken. */
const ANSWER_MS = 60_000;

/**
 * A pool of connections of our own.
 *
 * @throws (rejects) with an Error that says what to install when the package `pg` is absent.
 */
export async function openPool(options: OpenPoolOptions): Promise<PgPool> {
  const { connection, connections, onError } = options;
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString: connection,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    application_name: "entelix-otel",
    // A process that has nothing else to do may end, also when nobody has closed the log.
    allowExitOnIdle: true,
  });
  pool.on("error", onError);
  return pool;
}

async function loadPg() {
  try {
    return (await import("pg")).default;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw new Error(
      'the audit log in PostgreSQL needs the package "pg" (version 8.13 or newer): npm install pg',
      { cause: error },
    );
  }
}

function isAbsent(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND";
}
