import {
  callErrorHook,
  checkBoolean,
  checkEach,
  checkedElsewhere,
  checkFunction,
  checkText,
  having,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import type { Durability } from "../ndjson/ndjson-options.ts";
import type { PgPool } from "./pg-pool.ts";

/** The database: its URL, or a pool of the package `pg`, which the log does not close. */
export type PostgresSource =
  | { readonly connection: string; readonly pool?: undefined }
  | { readonly pool: PgPool; readonly connection?: undefined };

/** Options of a log in PostgreSQL. Every field has a default. */
export interface PostgresSettings {
  /**
   * The schema with the log's tables. Default: `schema` in the URL's query (`postgres://…?schema=x`),
   * else `entelix`.
   */
  readonly schema?: string | undefined;
  /**
   * How safe a row is when its append resolves. `batch` (default): it is on the server's disk and on its synchronous
   * standbys. Waiting appends share one transaction. `each`: the same, with its own transaction. `none`: the server
   * has it (`synchronous_commit = off`). A crash of this process loses nothing. A crash of the server may lose the
   * last rows, but never a row in the middle.
   */
  readonly durability?: Durability | undefined;
  /** Whether opening may migrate the schema to this package's version. Default true. */
  readonly migrate?: boolean | undefined;
  /** An append is refused while this many bytes wait to be written. Default 64 MiB. */
  readonly maxPendingBytes?: number | undefined;
  /** Most connections for a `connection`. Default 4. */
  readonly connections?: number | undefined;
  /**
   * How long the server is asked for the outcome of an append whose connection broke before the answer, in ms.
   * Default 10,000, at most 180,000: the database remembers outcomes for five minutes.
   */
  readonly doubtMs?: number | undefined;
  /**
   * How long the rows of a thread wait while another transaction holds its lock, in ms. Default 30,000. After it they
   * reject, and `archiveBefore` does as well. Rows of other threads do not wait.
   */
  readonly lockMs?: number | undefined;
  /** Called with the error of an idle connection that broke. Errors that it throws are ignored. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The database, and options of the log in it. */
export type PostgresSessionLogOptions = PostgresSource & PostgresSettings;

/**
 * The table `batches` keeps outcomes for 5 minutes, and it may take a minute until an answer counts as lost.
 */
const LONGEST_DOUBT_MS = 180_000;

export type CheckedSettings = {
  readonly [Name in keyof PostgresSettings]-?: NonNullable<PostgresSettings[Name]>;
};

const CHECKS: OptionChecks<PostgresSessionLogOptions> = {
  connection: checkText,
  pool: having("connect"),
  schema: checkText,
  durability: checkedElsewhere,
  migrate: checkBoolean,
  maxPendingBytes: wholeFrom(1),
  connections: wholeFrom(1),
  doubtMs: wholeFrom(0),
  lockMs: wholeFrom(0),
  onError: checkFunction,
};

/**
 * The options with their defaults.
 *
 * @throws TypeError naming the option that is of another type.
 * @throws RangeError naming the option that is out of range.
 */
export function postgresSettings(given: PostgresSessionLogOptions): CheckedSettings {
  const options = checkEach(given, CHECKS);
  const settings: CheckedSettings = {
    schema: options.schema ?? schemaIn(options.connection) ?? DEFAULT_SCHEMA,
    durability: options.durability ?? "batch",
    migrate: options.migrate ?? true,
    maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
    connections: options.connections ?? 4,
    doubtMs: options.doubtMs ?? 10_000,
    lockMs: options.lockMs ?? 30_000,
    onError: (error) => callErrorHook(options.onError, error),
  };
  quotedSchema(settings.schema);
  if (!["none", "batch", "each"].includes(settings.durability)) {
    throw new RangeError(`durability: expected none, batch or each, got ${settings.durability}`);
  }
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

/** Whether an audit log is in a database and not in a directory. */
export function isPostgresUrl(location: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(location);
}

function schemaIn(connection: string | undefined): string | undefined {
  const query = connection?.split("?", 2)[1];
  return new URLSearchParams(query).get("schema") ?? undefined;
}

/** Default schema of a log's tables. */
export const DEFAULT_SCHEMA = "entelix";

/**
 * A schema's name, quoted for statements. It is the only part of a statement that cannot be a parameter.
 *
 * @throws RangeError unless it is a plain lower-case name: 1 to 63 of `a`-`z`, `0`-`9` and `_`, not starting with a
 *   digit or with `pg_`.
 */
export function quotedSchema(name: string): string {
  if (typeof name === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name)) return `"${name}"`;
  throw new RangeError(
    `schema: expected a name of 1 to 63 of a-z, 0-9 and _, not beginning with a digit or pg_, got ${JSON.stringify(name)}`,
  );
}
