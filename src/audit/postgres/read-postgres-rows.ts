import { checkEach, checkFunction, withoutRejections } from "../../events/door.ts";
import type { AuditRow } from "../audit-row.ts";
import { withEvent } from "../stored-row.ts";
import { type RowFilter, runIdsOf } from "../verify/read-rows.ts";
import type { LogProblem } from "../verify/verify-report.ts";
import { openReader, type PostgresLogSource } from "./open-database.ts";
import { FIRST_POSITION, type RowChoice, rowPages } from "./row-pages.ts";
import { storedText } from "./stored-rows.ts";
import { threadHead } from "./threads.ts";

/** Options of `readPostgresRows`. */
export interface ReadPostgresRowsOptions {
  /** Called with every damaged row. Default: damaged rows are skipped. */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
}

/**
 * The rows of a log in PostgreSQL, thread by thread, including archived ones. Takes no lock and can run while
 * processes write.
 *
 * @throws with an Error if there is no log, with PostgreSQL's error otherwise.
 *
 * @example
 * const log = { connection: "postgres://reader@db.example/agents" };
 * for await (const row of readPostgresRows(log, { run_id })) console.log(row.ordinal, row.event_text);
 */
export async function* readPostgresRows(
  source: PostgresLogSource,
  filter: RowFilter = {},
  options: ReadPostgresRowsOptions = {},
): AsyncGenerator<AuditRow, void, void> {
  const checked = checkEach(options, { onProblem: checkFunction });
  const onProblem = withoutRejections(checked.onProblem);
  const reader = await openReader(source);
  const { name, run, schema } = reader;
  try {
    const choice: RowChoice = storedFilter(filter);
    const { tenant_id, thread_id } = filter;
    let behind = FIRST_POSITION;
    let thread: string | undefined;
    if (tenant_id !== undefined && thread_id !== undefined) {
      const head = await threadHead(run, schema, { tenant_id, thread_id });
      if (head === undefined) return;
      thread = head.thread;
      behind = { thread, ordinal: 0 };
    }
    const chosen = thread === undefined ? choice : { ...choice, thread };
    for await (const page of rowPages(run, schema, chosen, behind)) {
      for (const { ordinal, problem, row: stored } of page) {
        const row = stored === undefined || problem !== undefined ? undefined : withEvent(stored);
        if (row !== undefined) {
          yield row;
          continue;
        }
        const key =
          stored === undefined ? {} : { tenant_id: stored.tenant_id, thread_id: stored.thread_id };
        onProblem({
          file: `${name}.rows`,
          line: 0,
          ...key,
          ordinal,
          problem: problem ?? "the event is no JSON object",
        });
      }
    }
  } finally {
    await reader.close();
  }
}

function storedFilter(filter: RowFilter): RowChoice {
  const names = ["tenant_id", "thread_id", "event_id", "trace_id"] as const;
  const choice: { -readonly [N in (typeof names)[number]]?: string } = {};
  for (const name of names) {
    const id = filter[name];
    if (id !== undefined) choice[name] = storedText(id);
  }
  const { run_id } = filter;
  return run_id === undefined ? choice : { ...choice, run_ids: runIdsOf(run_id).map(storedText) };
}
