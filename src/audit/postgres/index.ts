export type { PostgresLogPlace } from "./open-reader.ts";
export type { PgClient, PgPool, PgResult, PgStatement } from "./pg-pool.ts";
export type {
  PostgresSessionLogOptions,
  PostgresSettings,
  PostgresSource,
} from "./postgres-options.ts";
export { PostgresSessionLog } from "./postgres-session-log.ts";
export { type ReadPostgresRowsOptions, readPostgresRows } from "./read-postgres-rows.ts";
export { type VerifyPostgresOptions, verifyPostgresLog } from "./verify-postgres-log.ts";
