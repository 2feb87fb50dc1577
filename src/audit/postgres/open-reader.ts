import { migrate } from "./migrate.ts";
import { openPool } from "./open-pool.ts";
import { type PgPool, withClient } from "./pg-pool.ts";
import { type PostgresSource, postgresSettings, quotedSchema } from "./postgres-options.ts";
import type { RunStatement } from "./row-pages.ts";

/** Which log is read. */
export type PostgresLogPlace = PostgresSource & {
  /** Default: `schema` in the URL's query, else `entelix`. */
  readonly schema?: string;
};

/** A log that is there, opened to be read. */
export interface OpenReader {
  readonly pool: PgPool;
  /** As it is written into statements. */
  readonly schema: string;
  /** For messages. */
  readonly name: string;
  readonly run: RunStatement;
  /** Ends the connections, but for a pool that was given. */
  close(): Promise<void>;
}

/** @throws (rejects) with an Error when there is no log, or one of another version. */
export async function openReader(place: PostgresLogPlace): Promise<OpenReader> {
  const { onError, schema } = postgresSettings(place);
  const pool =
    place.pool ?? (await openPool({ connection: place.connection, connections: 1, onError }));
  const close = async () => {
    if (place.pool === undefined) await pool.end();
  };
  try {
    await migrate(pool, schema, false);
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
