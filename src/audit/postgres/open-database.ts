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

/** Which log is read. */
export type PostgresLogSource = PostgresSource & {
  /** Default: `schema` in the URL's query, else `entelix`. */
  readonly schema?: string;
};

/** A log's database that is open. */
export interface Database {
  readonly pool: PgPool;
  /** As it is written into statements. */
  readonly schema: string;
  /** For messages. */
  readonly name: string;
  readonly run: RunStatement;
  /** Ends the connections, but for a pool that was given. */
  close(): Promise<void>;
}

/**
 * Connects, and checks the version of the schema, or brings it to this package's.
 *
 * @param reads whether the log is only read.
 * @throws (rejects) with an Error when there is no log, or one of another version, that may not be changed,
 *   or one of which something is missing.
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

/** @throws (rejects) with an Error when there is no log, or one of another version. */
export function openReader(place: PostgresLogSource): Promise<Database> {
  const settings = { ...postgresSettings(place), connections: 1, migrate: false };
  return openDatabase(place, settings, true);
}
