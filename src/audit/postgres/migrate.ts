import { checkNoLog, checkParts, schemaParts, schemaVersion } from "./check-schema.ts";
import { migration1 } from "./migration-1.ts";
import { migration2 } from "./migration-2.ts";
import { begin, type PgClient, type PgPool, withClient } from "./pg-pool.ts";
import { quotedSchema } from "./postgres-options.ts";

/** The SQL of each version of the schema, in order, for a quoted schema name. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [migration1, migration2];

/** The version of the schema that this package reads and writes. */
const SCHEMA_VERSION = MIGRATIONS.length;

/** The result of opening a schema. */
export interface Migration {
  /** 0 for a schema without a log. */
  readonly from: number;
  readonly to: number;
}

export interface MigrateOptions {
  /** Whether the schema may be changed. */
  readonly allowed: boolean;
  /** Whether the log is only read. Then its tables are enough. Default false. */
  readonly reads?: boolean;
}

/**
 * Brings a schema to the version of this package, completely or not at all. Several processes may call it at once:
 * one migrates, and the others wait for it.
 *
 * @throws (rejects) with an Error if the schema is newer, if it is older and may not be changed, if a part of it is
 *   missing, or if the database does not store UTF-8.
 * @throws (rejects) with PostgreSQL's error otherwise.
 */
export async function migrate(
  pool: PgPool,
  schema: string,
  { allowed, reads = false }: MigrateOptions,
): Promise<Migration> {
  const quoted = quotedSchema(schema);
  return withClient(pool, async (client) => {
    // Reads first, so that a role that may only append can open a log that is up to date. The parts come before the
    // version, because another process may create all of them in between.
    const there = await schemaParts(client, schema);
    const before = await schemaVersion(client, schema, there);
    checkNotNewer(before, schema);
    if (before === SCHEMA_VERSION) {
      checkParts(schema, there, !reads);
      return { from: before, to: before };
    }
    if (before === 0) checkNoLog(schema, there);
    if (!allowed) throw notMigrated(before, schema);
    await checkEncoding(client);
    // After waiting for the lock, this transaction must see the changes of the other process. The database's default
    // isolation may be stricter.
    await client.query(begin("isolation level read committed"));
    await client.query({
      text: "select pg_advisory_xact_lock(hashtextextended($1, 0))",
      values: [`entelix-otel ${schema}`],
    });
    const from = await schemaVersion(client, schema, await schemaParts(client, schema));
    checkNotNewer(from, schema);
    if (from === 0) await create(client, schema, quoted);
    for (const [index, statements] of MIGRATIONS.entries()) {
      const version = index + 1;
      if (version <= from) continue;
      await client.query({ text: statements(quoted) });
      await client.query({
        text: `insert into ${quoted}.migrations (version) values ($1)`,
        values: [version],
      });
    }
    checkParts(schema, await schemaParts(client, schema), true);
    await client.query({ text: "commit" });
    return { from, to: SCHEMA_VERSION };
  });
}

function notMigrated(version: number, schema: string): Error {
  const hint = "open it once as a role that may change it";
  return new Error(
    version === 0
      ? `audit log: there is none in the schema "${schema}" (${hint})`
      : `audit log: schema "${schema}" is at version ${version}, expected ${SCHEMA_VERSION}: ${hint}`,
  );
}

/** @throws Error if the schema is newer than this package. */
function checkNotNewer(version: number, schema: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new Error(
    `audit log: schema "${schema}" is at version ${version}, this entelix-otel knows ${SCHEMA_VERSION}: install a newer one`,
  );
}

async function create(client: PgClient, schema: string, quoted: string): Promise<void> {
  const { rows } = await client.query({
    text: "select from pg_namespace where nspname = $1",
    values: [schema],
  });
  // Not `if not exists`: it requires the right to create schemas, even if nothing is created.
  if (rows.length === 0) await client.query({ text: `create schema ${quoted}` });
  await client.query({
    text: `create table ${quoted}.migrations (
      version integer primary key, at timestamptz not null default now())`,
  });
}

async function checkEncoding(client: PgClient): Promise<void> {
  const { rows } = await client.query({
    text: "select current_setting('server_encoding') as encoding",
  });
  const encoding = rows[0]?.encoding;
  if (encoding === "UTF8") return;
  throw new Error(
    `audit log: expected a database with the encoding UTF8, got ${String(encoding)}: create one with it`,
  );
}
