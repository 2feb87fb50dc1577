import type { AuditRow } from "../../audit/audit-row.ts";
import { isPostgresUrl } from "../../audit/postgres/postgres-options.ts";
import { readPostgresRows } from "../../audit/postgres/read-postgres-rows.ts";
import { verifyPostgresLog } from "../../audit/postgres/verify-postgres-log.ts";
import { type RowFilter, readRows } from "../../audit/verify/read-rows.ts";
import type { SpanAnchor } from "../../audit/verify/span-anchors.ts";
import { verifyLog } from "../../audit/verify/verify-log.ts";
import type { LogProblem, VerifyReport } from "../../audit/verify/verify-report.ts";
import { checkLogDirectory } from "./log-directory.ts";

/** What a command's operand says: a directory, or the URL of a database. */
export const LOG_OPERAND = "DIR|URL";

/** An audit log to be read, wherever it is. */
export interface AuditLog {
  /** Whether it is made of segments, as a directory is. */
  readonly hasSegments: boolean;
  verify(against: readonly SpanAnchor[]): Promise<VerifyReport>;
  rows(
    filter: RowFilter,
    onProblem: (problem: LogProblem) => void,
  ): AsyncGenerator<AuditRow, void, void>;
}

/** @throws (rejects) CliError when there is no such directory. */
export async function auditLogAt(place: string): Promise<AuditLog> {
  if (isPostgresUrl(place)) {
    const log = { connection: place };
    return {
      hasSegments: false,
      verify: (against) => verifyPostgresLog(log, { against }),
      rows: (filter, onProblem) => readPostgresRows(log, filter, { onProblem }),
    };
  }
  await checkLogDirectory(place);
  return {
    hasSegments: true,
    verify: (against) => verifyLog(place, { against }),
    rows: (filter, onProblem) => readRows(place, filter, { onProblem }),
  };
}
