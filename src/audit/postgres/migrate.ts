import { migration1 } from "./migration-1.ts";
import { BEGIN, type PgClient, type PgPool, withClient } from "./pg-pool.ts";
import { quotedSchema } from "./postgres-options.ts";

/** The statements of each version of the schema, the first one first; given the quoted schema. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [migration1];

/** The version of the schema that this package reads and writes. */
const SCHEMA_VERSION = MIGRATIONS.length;

/** What opening a schema came to. */
export interface Migration {
  /** 0 where there was none. */
  readonly from: number;
  readonly to: number;
}

/**
 * Brings a schema to the version of this package: all of it, or nothing. Several processes may do it
 * at once; one does, and the others wait for it.
 *
 * @param allowed whether the schema may be changed.
 * @throws (rejects) with an Error when the schema is of a newer version, or of an older one and may
 *   not be changed, or when the database does not store UTF-8; with PostgreSQL's error otherwise.
 */
export async function migrate(pool: PgPool, schema: string, allowed: boolean): Promise<Migration> {
  const quoted = quotedSchema(schema);
  return withClient(pool, async (client) => {
    // A role that may only append can open a log that is up to date.
    const before = await schemaVersion(client, schema);
    checkNotNewer(before, schema);
    if (before === SCHEMA_VERSION) return { from: before, to: before };
    if (!allowed) throw notMigrated(before, schema);
    await checkEncoding(client);
    // Whoever has waited for the lock has to see what was done meanwhile, whatever the database's default.
    await client.query({ text: BEGIN });
    await client.query({
      text: "select pg_advisory_xact_lock(hashtextextended($1, 0))",
      values: [`entelix-otel ${schema}`],
    });
    const from = await schemaVersion(client, schema);
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

/** @throws Error when the schema is of a version that this package does not know. */
function checkNotNewer(version: number, schema: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new Error(
    `audit log: schema "${schema}" is at version ${version}, this entelix-otel knows ${SCHEMA_VERSION}: install a newer one`,
  );
}

/** 0: there is no log in the schema. */
async function schemaVersion(client: PgClient, schema: string): Promise<number> {
  const { rows: tables } = await client.query({
    text: "select from pg_tables where schemaname = $1 and tablename = 'migrations'",
    values: [schema],
  });
  if (tables.length === 0) return 0;
  const { rows } = await client.query({
    text: `select coalesce(max(version), 0)::text as version from ${quotedSchema(schema)}.migrations`,
  });
  return Number(rows[0]?.version);
}

async function create(client: PgClient, schema: string, quoted: string): Promise<void> {
  const { rows } = await client.query({
    text: "select from pg_namespace where nspname = $1",
    values: [schema],
  });
  // Not `if not exists`: that asks for the right to create schemas where nothing is to be created.
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
