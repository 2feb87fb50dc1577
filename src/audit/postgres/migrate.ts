import { checkNoLog, checkParts, schemaParts, schemaVersion } from "./check-schema.ts";
import { migration1 } from "./migration-1.ts";
import { migration2 } from "./migration-2.ts";
import { begin, type PgClient, type PgPool, withClient } from "./pg-pool.ts";
import { quotedSchema } from "./postgres-options.ts";

/** The statements of each version of the schema, the first one first; given the quoted schema. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [migration1, migration2];

/** The version of the schema that this package reads and writes. */
const SCHEMA_VERSION = MIGRATIONS.length;

/** What opening a schema came to. */
export interface Migration {
  /** 0 where there was none. */
  readonly from: number;
  readonly to: number;
}

export interface MigrateOptions {
  /** Whether the schema may be changed. */
  readonly allowed: boolean;
  /** Whether the log is only read: then its tables are enough. Default false. */
  readonly reads?: boolean;
}

/**
 * Brings a schema to the version of this package: all of it, or nothing. Several processes may do it
 * at once; one does, and the others wait for it.
 *
 * @throws (rejects) with an Error when the schema is of a newer version, or of an older one and may
 *   not be changed, when something of it is missing, or when the database does not store UTF-8; with
 *   PostgreSQL's error otherwise.
 */
export async function migrate(
  pool: PgPool,
  schema: string,
  { allowed, reads = false }: MigrateOptions,
): Promise<Migration> {
  const quoted = quotedSchema(schema);
  return withClient(pool, async (client) => {
    // A role that may only append can open a log that is up to date. Parts before the version: another
    // process may make all of them at once in between.
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
    // Whoever has waited for the lock has to see what was done meanwhile, whatever the database's default.
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

/** @throws Error when the schema is of a version that this package does not know. */
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
