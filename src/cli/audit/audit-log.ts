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

/** What a command's operand says: a directory, or the URL of a database. */
export const LOG_OPERAND = "DIR|URL";

/** An audit log to be read, wherever it is. */
export interface AuditLog {
  /** Whether it is made of segments, as a directory is. */
  readonly hasSegments: boolean;
  /**
   * Whether a database answers, and has a log. A directory was looked at before.
   *
   * @throws (rejects) CliError when it is not so.
   */
  check(): Promise<void>;
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
      check: () => checkDatabase(place),
      verify: (against) => verifyPostgresLog(log, { against }),
      rows: (filter, onProblem) => readPostgresRows(log, filter, { onProblem }),
    };
  }
  await checkLogDirectory(place);
  return {
    hasSegments: true,
    check: async () => {},
    verify: (against) => verifyLog(place, { against }),
    rows: (filter, onProblem) => readRows(place, filter, { onProblem }),
  };
}

async function checkDatabase(connection: string): Promise<void> {
  try {
    await (await openReader({ connection })).close();
  } catch (error) {
    throw logError(error);
  }
}

/** @throws CliError when there is no such directory: a log that is not there is not a whole one. */
async function checkLogDirectory(directory: string): Promise<void> {
  const scheme = urlScheme(directory);
  if (scheme !== undefined) {
    // Without the rest of it: a URL may hold a password, and errors are kept in logs.
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

/** Several addresses of a host may each have refused: then Node gives one error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return messageOf(error);
}

/** A problem of a log as one line: where, what, and of which row. */
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

/** A row as `audit show --json` prints it, and as a replay reads it. */
export function rowLine(row: AuditRow): string {
  const { event: _, event_text, ...facts } = row;
  // The text as it is stored, so that its digest can be checked by whoever reads this.
  return `${JSON.stringify(facts).slice(0, -1)},"event":${event_text}}`;
}
