import type { AuditRow } from "../../audit/audit-row.ts";
import { logPaths } from "../../audit/ndjson/log-directory.ts";
import { isPostgresUrl } from "../../audit/postgres/postgres-options.ts";
import { readPostgresRows } from "../../audit/postgres/read-postgres-rows.ts";
import { verifyPostgresLog } from "../../audit/postgres/verify-postgres-log.ts";
import { type RowFilter, readRows } from "../../audit/verify/read-rows.ts";
import { segmentFiles } from "../../audit/verify/segment-files.ts";
import type { SpanAnchor } from "../../audit/verify/span-anchors.ts";
import { verifyLog } from "../../audit/verify/verify-log.ts";
import type { LogProblem, VerifyReport } from "../../audit/verify/verify-report.ts";
import { nodeFileLayer } from "../../storage/node-file-layer.ts";
import { checkLogDirectory } from "./log-directory.ts";

/** What a command's operand says: a directory, or the URL of a database. */
export const LOG_OPERAND = "DIR|URL";

/** An audit log to be read, wherever it is. */
export interface AuditLog {
  /** Whether it is made of segments, as a directory is. */
  readonly hasSegments: boolean;
  /** Whether there is a log at all, be it without a row. */
  exists(): Promise<boolean>;
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
      // Asked of rows, a database without a log fails.
      exists: async () => true,
      verify: (against) => verifyPostgresLog(log, { against }),
      rows: (filter, onProblem) => readPostgresRows(log, filter, { onProblem }),
    };
  }
  await checkLogDirectory(place);
  return {
    hasSegments: true,
    exists: async () => {
      const { indexOnly, present } = await segmentFiles(nodeFileLayer, logPaths(place));
      return present.length + indexOnly.length > 0;
    },
    verify: (against) => verifyLog(place, { against }),
    rows: (filter, onProblem) => readRows(place, filter, { onProblem }),
  };
}
