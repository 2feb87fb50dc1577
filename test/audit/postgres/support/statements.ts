import { migrate } from "../../../../src/audit/postgres/migrate.ts";
import { openPool } from "../../../../src/audit/postgres/open-database.ts";
import { pageStatement } from "../../../../src/audit/postgres/row-pages.ts";

/** Makes the tables of a schema, or brings them to this version, as opening a log does. */
export async function migrated(connection: string, schema: string, allowed: boolean) {
  const pool = await openPool({ connection, connections: 1, onError: () => {} });
  try {
    return await migrate(pool, schema, { allowed });
  } finally {
    await pool.end();
  }
}

/** The statement that reads the rows of a thread behind an ordinal, page by page. */
export function pageBehind(schema: string, thread: string, ordinal: number) {
  return pageStatement(`"${schema}"`, { thread }, { thread, ordinal });
}
