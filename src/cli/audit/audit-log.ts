import { stat } from "node:fs/promises";
import {
  type AuditRow,
  isPostgresUrl,
  type LogProblem,
  openReader,
  type RowFilter,
  readPostgresRows,
  readRows,
  type SpanAnchor,
  urlScheme,
  type VerifyReport,
  verifyLog,
  verifyPostgresLog,
} from "../../audit/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

/** The operand of the audit commands: a directory, or the URL of a database. */
export const LOG_OPERAND = "DIR|URL";

/** Reads an audit log in a directory or a database. */
export interface AuditLog {
  /** Whether the log has segments, as in a directory. */
  readonly hasSegments: boolean;
  /**
   * Checks that the database answers and has a log. A directory was checked before.
   *
   * @throws (rejects) CliError otherwise.
   */
  check(): Promise<void>;
  verify(against: readonly SpanAnchor[]): Promise<VerifyReport>;
  rows(
    filter: RowFilter,
    onProblem: (problem: LogProblem) => void,
  ): AsyncGenerator<AuditRow, void, void>;
}

/**
 * @param operand a directory or a `postgres://` URL.
 * @throws (rejects) CliError if the directory does not exist.
 */
export async function auditLogAt(operand: string): Promise<AuditLog> {
  if (isPostgresUrl(operand)) {
    const log = { connection: operand };
    return {
      hasSegments: false,
      check: () => checkDatabase(operand),
      verify: (against) => verifyPostgresLog(log, { against }),
      rows: (filter, onProblem) => readPostgresRows(log, filter, { onProblem }),
    };
  }
  await checkLogDirectory(operand);
  return {
    hasSegments: true,
    check: async () => {},
    verify: (against) => verifyLog(operand, { against }),
    rows: (filter, onProblem) => readRows(operand, filter, { onProblem }),
  };
}

async function checkDatabase(connection: string): Promise<void> {
  try {
    await (await openReader({ connection })).close();
  } catch (error) {
    throw logError(error);
  }
}

/** @throws CliError if it is not a directory: a missing log must not count as intact. */
async function checkLogDirectory(directory: string): Promise<void> {
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Only the scheme: a URL may contain a password, and errors end up in log files.
    throw new CliError(`expected a directory or postgres://…, got a URL (${safe(scheme)}…)`);
  }
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined) throw new CliError(`${safe(directory)}: no such directory`);
  if (!found.isDirectory()) {
    throw new CliError(`${safe(directory)}: expected the directory of an audit log, got a file`);
  }
}

/** Why a log could not be read, for the terminal. */
export function logError(error: unknown): CliError {
  return new CliError(safe(reasonOf(error)), undefined, { cause: error });
}

/** Node has one error without a message if several addresses of a host refused. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return messageOf(error);
}

/** A log problem as one line: file, line, problem, row. */
export function problemLine(problem: LogProblem): string {
  const { file, line } = problem;
  return `${line > 0 ? `${file}:${line}` : file}: ${problemText(problem)}`;
}

/** Text of a log problem without file and line: the problem and its row. */
export function problemText({ ordinal, problem, tenant_id, thread_id }: LogProblem): string {
  const of = [
    ...(tenant_id === undefined ? [] : [`tenant ${tenant_id}`]),
    ...(thread_id === undefined ? [] : [`thread ${thread_id}`]),
    ...(ordinal === undefined ? [] : [`row ${ordinal}`]),
  ];
  return `${problem}${of.length === 0 ? "" : ` (${of.join(", ")})`}`;
}

/** A row as `audit show --json` prints it and `replay` reads it. */
export function rowLine(row: AuditRow): string {
  const { event: _, event_text, ...fields } = row;
  // The stored text, so that readers can check its digest.
  return `${JSON.stringify(fields).slice(0, -1)},"event":${event_text}}`;
}
