import {
  checkBoolean,
  checkFunction,
  checkHas,
  checkOptionsObject,
  checkText,
  checkWhole,
  tellHook,
} from "../../events/door.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import type { PgPool } from "./pg-pool.ts";

/** Which database: its URL, or a pool of the package `pg`, which the log does not end. */
export type PostgresSource =
  | { readonly connection: string; readonly pool?: undefined }
  | { readonly pool: PgPool; readonly connection?: undefined };

/** How a log in PostgreSQL is kept; every field has a default. */
export interface PostgresSettings {
  /**
   * The schema with the log's tables. Default: `schema` in the URL's query (`postgres://…?schema=x`),
   * else `entelix`.
   */
  readonly schema?: string | undefined;
  /**
   * How safe a row is when its append resolves. `batch` (default): on the server's disk, and with its
   * synchronous standbys; the appends that wait at a time share one transaction. `each`: the same, with
   * a transaction of its own. `none`: with the server (`synchronous_commit = off`): the end of this
   * process costs nothing, a crash of the server the last rows, and never one from the middle.
   */
  readonly durability?: Durability | undefined;
  /** Whether opening may bring the schema to this package's version. Default true. */
  readonly migrate?: boolean | undefined;
  /** An append is refused while this many bytes wait to be written. Default 64 MiB. */
  readonly maxPendingBytes?: number | undefined;
  /** Connections to a `connection`, at most. Default 4. */
  readonly connections?: number | undefined;
  /**
   * An append whose connection broke before the answer may be in the log or not: for how long the
   * server is asked, in ms. Default 10,000, at most 180,000: the database knows for five minutes what
   * it has done.
   */
  readonly doubtMs?: number | undefined;
  /**
   * For how long the rows of a thread wait while another transaction has its lock, in ms. Default 30,000.
   * Then they reject, and so does `archiveBefore`. Rows of other threads do not wait.
   */
  readonly lockMs?: number | undefined;
  /** Told of connections that break while nobody uses them. What it throws is swallowed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Which database, and how the log is kept in it. */
export type PostgresSessionLogOptions = PostgresSource & PostgresSettings;

/**
 * The table `batches` keeps what an append came to for 5 minutes, and a minute may pass until an answer
 * counts as lost.
 */
const LONGEST_DOUBT_MS = 180_000;

export type CheckedSettings = {
  readonly [Name in keyof PostgresSettings]-?: NonNullable<PostgresSettings[Name]>;
};

/**
 * The settings with their defaults.
 *
 * @throws TypeError naming the one that is of another type.
 * @throws RangeError naming the one that is out of range.
 */
export function postgresSettings(options: PostgresSessionLogOptions): CheckedSettings {
  checkOptionsObject(options);
  checkText(options.connection, "connection");
  checkHas(options.pool, "pool", "connect");
  checkText(options.schema, "schema");
  checkBoolean(options.migrate, "migrate");
  checkFunction(options.onError, "onError");
  const settings: CheckedSettings = {
    schema: options.schema ?? schemaIn(options.connection) ?? DEFAULT_SCHEMA,
    durability: options.durability ?? "batch",
    migrate: options.migrate ?? true,
    maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
    connections: options.connections ?? 4,
    doubtMs: options.doubtMs ?? 10_000,
    lockMs: options.lockMs ?? 30_000,
    onError: (error) => tellHook(options.onError, error),
  };
  quotedSchema(settings.schema);
  if (!["none", "batch", "each"].includes(settings.durability)) {
    throw new RangeError(`durability: expected none, batch or each, got ${settings.durability}`);
  }
  checkWhole(settings.maxPendingBytes, "maxPendingBytes", 1);
  checkWhole(settings.connections, "connections", 1);
  checkWhole(settings.doubtMs, "doubtMs");
  checkWhole(settings.lockMs, "lockMs");
  if (settings.doubtMs > LONGEST_DOUBT_MS) {
    throw new RangeError(
      `doubtMs: expected at most ${LONGEST_DOUBT_MS}, got ${settings.doubtMs}: later the database may do an append twice`,
    );
  }
  if ((options.connection === undefined) === (options.pool === undefined)) {
    throw new TypeError("expected a connection (postgres://…) or a pool, and not both");
  }
  if (options.connection !== undefined && !isPostgresUrl(options.connection)) {
    throw new TypeError("connection: expected a URL that begins with postgres:// or postgresql://");
  }
  return settings;
}

/** Whether a place of an audit log is a database and no directory. */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}

function schemaIn(connection: string | undefined): string | undefined {
  const query = connection?.split("?", 2)[1];
  return new URLSearchParams(query).get("schema") ?? undefined;
}

/** Where a log's tables are unless told otherwise. */
export const DEFAULT_SCHEMA = "entelix";

/**
 * A schema's name as it is written into statements: the only thing of them that is no parameter.
 *
 * @throws RangeError unless it is a plain lower-case name: 1 to 63 of `a`-`z`, `0`-`9` and `_`, not
 *   beginning with a digit or with `pg_`.
 */
export function quotedSchema(name: string): string {
  if (typeof name === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name)) return `"${name}"`;
  throw new RangeError(
    `schema: expected a name of 1 to 63 of a-z, 0-9 and _, not beginning with a digit or pg_, got ${JSON.stringify(name)}`,
  );
}
