import { migrate } from "./migrate.ts";
import { type PgPool, withClient } from "./pg-pool.ts";
import {
  type CheckedSettings,
  type PostgresSource,
  postgresSettings,
  quotedSchema,
} from "./postgres-options.ts";
import type { RunStatement } from "./row-pages.ts";

export interface OpenPoolOptions {
  /** `postgres://…`, as the package `pg` accepts it. */
  readonly connection: string;
  /** Most connections open at a time. */
  readonly connections: number;
  /** Called with the error of an idle connection that broke. */
  readonly onError: (error: unknown) => void;
}

/** Time limit for connecting, in ms. */
const CONNECT_MS = 10_000;
/** Time limit for the answer to a statement, in ms. After it, the connection counts as broken. */
const ANSWER_MS = 60_000;

/**
 * Opens a pool of connections.
 *
 * @throws (rejects) with an Error that says what to install if the package `pg` is missing.
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
    // An idle process may exit, even if the log was not closed.
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

/** The log to read. */
export type PostgresLogSource = PostgresSource & {
  /** Default: `schema` in the URL's query, else `entelix`. */
  readonly schema?: string;
};

/** The open database of a log. */
export interface Database {
  readonly pool: PgPool;
  /** Quoted for SQL. */
  readonly schema: string;
  /** For error messages. */
  readonly name: string;
  readonly run: RunStatement;
  /** Closes the connections, unless the pool was given by the caller. */
  close(): Promise<void>;
}

/**
 * Connects, and checks the version of the schema or migrates it.
 *
 * @param reads whether the log is only read.
 * @throws (rejects) with an Error if there is no log or one of another version and it may not be changed, or if a
 *   part of the log is missing.
 */
export async function openDatabase(
  source: PostgresSource,
  { connections, migrate: allowed, onError, schema }: CheckedSettings,
  reads = false,
): Promise<Database> {
  const pool =
    source.pool ?? (await openPool({ connection: source.connection, connections, onError }));
  const close = async () => {
    if (source.pool === undefined) await pool.end();
  };
  try {
    await migrate(pool, schema, { allowed, reads });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    pool,
    schema: quotedSchema(schema),
    name: schema,
    run: (statement) => withClient(pool, async (client) => (await client.query(statement)).rows),
    close,
  };
}

/** @throws (rejects) with an Error if there is no log, or one of another version. */
export function openReader(source: PostgresLogSource): Promise<Database> {
  const settings = { ...postgresSettings(source), connections: 1, migrate: false };
  return openDatabase(source, settings, true);
}
