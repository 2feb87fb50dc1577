import { parseArgs } from "node:util";
import { type AuditRow, isUpstreamKind, type RowFilter } from "../audit/door.ts";
import { stringifyExact } from "../events/door.ts";
import {
  type AuditLog,
  auditLogAt,
  LOG_OPERAND,
  logError,
  problemLine,
  rowLine,
} from "./audit/audit-log.ts";
import type { Command, Io } from "./command.ts";
import type { Output } from "./terminal/output.ts";
import { cutToWidth, safe } from "./terminal/text.ts";

const OPTIONS = {
  tenant: { type: "string", value: "T", about: "Only this tenant's rows." },
  thread: { type: "string", value: "T", about: "Only this thread's rows." },
  run: { type: "string", value: "RUN_ID", about: "Only this run's rows." },
  upstream: { type: "boolean", about: "Only rows of entelix's kinds, not this package's own." },
  json: {
    type: "boolean",
    about: "Print each row as one JSON object with the stored text of the event.",
  },
} as const;

/** Prints the rows of an audit log. */
export const auditShow: Command = {
  operands: LOG_OPERAND,
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The log is a directory or a PostgreSQL database: postgres://USER@HOST/DATABASE, with ?schema=NAME if the schema is not entelix. Rows of a database are ordered by thread.",
    "The command only reads, also while a process writes the log. It does not check the chain. audit verify does.",
    "Exit code: 0 all rows were read, 2 some lines are not rows, or segments or the log are missing, 1 the command failed.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [operand = ""] = positionals;
    const log = await auditLogAt(operand);
    const filter: RowFilter = {
      ...(values.tenant === undefined ? {} : { tenant_id: values.tenant }),
      ...(values.thread === undefined ? {} : { thread_id: values.thread }),
      ...(values.run === undefined ? {} : { run_id: values.run }),
    };
    const print = values.json === true ? jsonRow : textRow(io.out);
    const isShown = values.upstream === true ? isOfUpstream : undefined;
    return show(log, filter, isShown, print, io);
  },
};

async function show(
  log: AuditLog,
  filter: RowFilter,
  isShown: ((row: AuditRow) => boolean) | undefined,
  print: (row: AuditRow, out: Output) => void,
  { err, out }: Io,
): Promise<number> {
  let problems = 0;
  let rows = 0;
  const found = log.rows(filter, (problem) => {
    problems++;
    err.line(safe(problemLine(problem)));
  });
  try {
    for await (const row of found) {
      if (isShown?.(row) === false) continue;
      rows++;
      print(row, out);
      await out.drained();
      if (out.closed) break;
    }
  } catch (error) {
    throw logError(error);
  }
  if (rows === 0 && problems === 0) err.line("No rows.");
  return problems > 0 ? 2 : 0;
}

function isOfUpstream({ event }: AuditRow): boolean {
  return isUpstreamKind(event.kind);
}

function jsonRow(row: AuditRow, out: Output): void {
  out.json(rowLine(row));
}

/** Width of the longest kind, `entelix.tool_call_decided`. */
const KIND_WIDTH = 25;

/** Prints a heading whenever the thread changes. */
function textRow(out: Output): (row: AuditRow) => void {
  let heading = "";
  return (row) => {
    const thread = `tenant ${safe(row.tenant_id)}, thread ${safe(row.thread_id)}`;
    if (thread !== heading) {
      if (heading !== "") out.line();
      out.line(out.style("bold", thread));
      heading = thread;
    }
    const { kind, timestamp, ...fields } = row.event;
    const time = typeof timestamp === "string" ? safe(timestamp) : "";
    const left = `${String(row.ordinal).padStart(6)}  ${time.padEnd(30)}  ${safe(kind).padEnd(KIND_WIDTH)}  `;
    out.line(left + cutToWidth(safe(stringifyExact(fields)), out.columns - left.length));
  };
}
