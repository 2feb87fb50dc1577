import { PostgresSessionLog } from "../../../../src/audit/postgres/postgres-session-log.ts";

/* Opens a log and says why that fails. */
try {
  await PostgresSessionLog.open({ connection: "postgres://audit@127.0.0.1:1/agents" });
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
