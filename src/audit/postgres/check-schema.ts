import type { PgClient } from "./pg-pool.ts";
import { quotedSchema } from "./postgres-options.ts";

/** Parts that reading needs. */
const READ_PARTS = ["table rows", "table threads"] as const;
/** Parts of this version's schema, as {@link schemaParts} names them. */
export const PARTS = [
  ...READ_PARTS,
  "table batches",
  "view audit",
  "index rows_event",
  ...[
    "row_hash",
    "event_key",
    "is_erased",
    "refuse",
    "check_added",
    "check_changed",
    "check_thread",
    "append_rows",
    "archive_rows",
    "erase_events",
  ].map((name) => `function ${name}`),
  ...["check_added", "check_changed", "refuse_delete", "refuse_truncate"].map(
    (name) => `trigger ${name} on rows`,
  ),
  ...["check_thread", "refuse_delete", "refuse_truncate"].map(
    (name) => `trigger ${name} on threads`,
  ),
] as const;

/** Tables, views, indexes, functions and enabled triggers of a schema: `table rows`, `trigger x on rows`. */
export async function schemaParts(client: PgClient, schema: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query({
    text: `
      with relations as (select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1)
      select case when relkind in ('r', 'p') then 'table ' when relkind = 'v' then 'view '
          else 'index ' end || relname as part
        from relations where relkind in ('r', 'p', 'v', 'i', 'I')
      union all select 'function ' || p.proname from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1
      union all select 'trigger ' || t.tgname || ' on ' || r.relname from pg_trigger t
        join relations r on r.oid = t.tgrelid where not t.tgisinternal and t.tgenabled in ('O', 'A')
      union all select 'column version' from pg_attribute a join relations r on r.oid = a.attrelid
        where r.relname = 'migrations' and a.attname = 'version' and not a.attisdropped`,
    values: [schema],
  });
  return new Set(rows.map(({ part }) => String(part)));
}

/** The version of the schema. 0: it holds no log. @param parts from {@link schemaParts}, read before. */
export async function schemaVersion(
  client: PgClient,
  schema: string,
  parts: ReadonlySet<string>,
): Promise<number> {
  if (!parts.has("table migrations") || !parts.has("column version")) return 0;
  const { rows } = await client.query({
    text: `select coalesce(max(version), 0)::text as version from ${quotedSchema(schema)}.migrations`,
  });
  return Number(rows[0]?.version);
}

/**
 * @throws Error if a schema without a version has tables with a log's names. It is an incomplete log, or belongs to
 *   another program.
 */
export function checkNoLog(schema: string, parts: ReadonlySet<string>): void {
  const own = ["rows", "threads", "batches", "migrations"];
  const there = own.filter((name) => parts.has(`table ${name}`));
  if (there.length === 0) return;
  const tables = there.map((name) => `"${name}"`).join(", ");
  throw new Error(
    parts.has("table rows") && parts.has("table threads")
      ? `audit log: schema "${schema}" has the tables of a log (${tables}), but its table "migrations" does not say which version: restore that table from a backup of the schema`
      : `audit log: schema "${schema}" has no log, but tables of the same names (${tables}): choose another schema (option schema), or restore the log from a backup`,
  );
}

/**
 * @param whole whether all parts are needed. Reading and verifying need only the tables.
 * @throws Error that names the missing parts.
 */
export function checkParts(schema: string, parts: ReadonlySet<string>, whole: boolean): void {
  const missing = (whole ? PARTS : READ_PARTS).filter((part) => !parts.has(part));
  if (missing.length === 0) return;
  const some = missing.slice(0, 3).join(", ");
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
  throw new Error(
    `audit log: schema "${schema}" is not complete: missing or switched off: ${some}${more}. Enable the trigger, or restore the schema from a backup; then verify the log`,
  );
}
