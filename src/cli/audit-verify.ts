import { parseArgs } from "node:util";
import type { LogProblem, VerifyReport } from "../audit/door.ts";
import { type AnchoredSpan, anchoredSpans } from "./audit/anchored-spans.ts";
import {
  type AuditLog,
  auditLogAt,
  LOG_OPERAND,
  logError,
  problemLine,
} from "./audit/audit-log.ts";
import { verdictOf } from "./audit/verdict.ts";
import { CliError } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { sayWaiting } from "./services/say-waiting.ts";
import { counted } from "./terminal/table.ts";
import { safe } from "./terminal/text.ts";

const OPTIONS = {
  against: {
    type: "string",
    value: "SPANS",
    about: "File with run spans as OTLP/JSON lines. Each names a row that must exist.",
  },
  json: { type: "boolean", about: "Print the report as one JSON object." },
} as const;

/** Verifies an audit log. */
export const auditVerify: Command = {
  operands: LOG_OPERAND,
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The log is a directory or a PostgreSQL database: postgres://USER@HOST/DATABASE, with ?schema=NAME if the schema is not entelix. The password comes from PGPASSWORD or ~/.pgpass.",
    "The command only reads, also while a process writes the log. A writer puts a close mark at the end of the log, so a truncated log has none. A cut exactly at an earlier close mark is found only with --against, because run spans contain number and hash of the run's last row. SPANS is a file of replay --out or of the collector's file exporter. Runs whose rows are in another log are reported as missing.",
    "Exit code: 0 no damage, and the log is closed, or open in a process, or was written by a version without close marks; 3 no damage, but the log is not closed and no process has it open (after a crash, a copy of an open log, or truncation); 2 damage found; 1 the log could not be checked.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [operand = ""] = positionals;
    const log = await auditLogAt(operand);
    const { against } = values;
    const spans = against === undefined ? [] : await anchoredSpans(against, sayWaiting(io));
    if (against !== undefined && spans.length === 0) {
      throw new CliError(
        `--against: ${safe(against)}: expected run spans with entelix.audit.ordinal and .hash, found none`,
        "Spans have them where the bridge has an audit log (replay --audit).",
      );
    }
    const report = await check(log, spans);
    const problems = report.problems.map((problem) => withSpanLine(problem, against, spans));
    if (values.json === true) io.out.json(JSON.stringify({ ...report, problems }));
    else show(report, problems, { spans: spans.length, hasSegments: log.hasSegments }, io);
    return verdictOf(report, spans.length).exitCode;
  },
};

async function check(log: AuditLog, spans: readonly AnchoredSpan[]): Promise<VerifyReport> {
  try {
    return await log.verify(spans.map(({ anchor }) => anchor));
  } catch (error) {
    throw logError(error);
  }
}

/** Replaces the index of a span by its line in the file. */
function withSpanLine(
  problem: LogProblem,
  against: string | undefined,
  spans: readonly AnchoredSpan[],
): LogProblem {
  const span = problem.file === "spans" ? spans[problem.line - 1] : undefined;
  return against === undefined || span === undefined
    ? problem
    : { ...problem, file: against, line: span.line };
}

function show(
  report: VerifyReport,
  problems: readonly LogProblem[],
  { hasSegments, spans }: { readonly hasSegments: boolean; readonly spans: number },
  { out }: Io,
): void {
  for (const problem of problems) out.line(safe(problemLine(problem)));
  const more = report.problemCount - problems.length;
  if (more > 0) out.line(`… and ${counted(more, "more problem")}`);
  if (problems.length > 0) out.line();
  const read = [
    counted(report.rows, "row"),
    counted(report.threads, "thread"),
    ...(hasSegments
      ? [counted(report.segments, "segment"), counted(report.commits, "commit")]
      : []),
  ].join(", ");
  const { advice, style, text } = verdictOf(report, spans);
  out.line(`${out.style(style, text)}: ${read}`);
  for (const line of advice) out.line(line);
  if (spans > 0) out.line(`${report.matchedSpans} of ${counted(spans, "span")} found their row`);
  for (const note of notes(report)) out.line(out.style("dim", note));
}

/** Findings that are not problems. */
function notes(report: VerifyReport): string[] {
  const { erasedRows, recoveredCommits, tornBytes, tornFiles, uncommittedLines } = report;
  const { unclosedReopenings } = report;
  const found: string[] = [];
  if (erasedRows > 0) {
    found.push(
      `${counted(erasedRows, "payload")} erased: the chain was checked, the payload can't be`,
    );
  }
  if (recoveredCommits > 0) {
    found.push(
      `${counted(recoveredCommits, "commit")} written when the log was opened after a crash`,
    );
  }
  if (unclosedReopenings > 0) {
    found.push(
      `opened ${counted(unclosedReopenings, "time")} without having been closed before: after a crash, or after rows were cut off`,
    );
  }
  if (uncommittedLines > 0 || tornBytes > 0) {
    const lines = counted(uncommittedLines, "line");
    const cause = report.end === "open" ? "being written" : "written in part";
    found.push(`${lines} and ${counted(tornBytes, "byte")} behind the last commit: ${cause}`);
  }
  if (tornFiles.length > 0) {
    found.push(
      `set aside after crashes: ${tornFiles.map((name) => safe(`torn/${name}`)).join(", ")}`,
    );
  }
  return found;
}
