export type { PostgresLogSource as PostgresLogPlace } from "../audit/postgres/open-database.ts";
export type { PgClient, PgPool, PgResult, PgStatement } from "../audit/postgres/pg-pool.ts";
export type {
  PostgresSessionLogOptions,
  PostgresSettings,
  PostgresSource,
} from "../audit/postgres/postgres-options.ts";
export { PostgresSessionLog } from "../audit/postgres/postgres-session-log.ts";
export {
  type ReadPostgresRowsOptions,
  readPostgresRows,
} from "../audit/postgres/read-postgres-rows.ts";
export {
  type VerifyPostgresOptions,
  verifyPostgresLog,
} from "../audit/postgres/verify-postgres-log.ts";
