import type { PgStatement } from "./pg-pool.ts";
import { type DatabaseRow, databaseRow, HEAD_COLUMNS, ROW_COLUMNS } from "./stored-rows.ts";

/** A page has at most this many rows and about this many bytes of events, and at least one row. */
const PAGE_ROWS = 1000;
const PAGE_BYTES = 8 * 1024 * 1024;

/** The rows to read. An absent field matches every row. IDs are in their stored form. */
export interface RowChoice {
  /** The thread's number in the database. */
  readonly thread?: string;
  readonly tenant_id?: string;
  readonly thread_id?: string;
  /** Any of these. */
  readonly run_ids?: readonly string[];
  readonly event_id?: string;
  readonly trace_id?: string;
  /** Whether to read the heads that the threads state, too. */
  readonly heads?: boolean;
}

/** Reading continues behind this row. */
export interface RowPosition {
  readonly thread: string;
  readonly ordinal: number;
}

/** Before the first row. */
export const FIRST_POSITION: RowPosition = { thread: "0", ordinal: 0 };

/** Runs a statement, on one connection or on a pool. */
export type RunStatement = (
  statement: PgStatement,
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/**
 * The rows behind a position, ascending by thread and ordinal, page by page. Memory holds one page, and each
 * statement finds its first row by an index.
 */
export async function* rowPages(
  run: RunStatement,
  schema: string,
  choice: RowChoice,
  behind: RowPosition,
): AsyncGenerator<readonly DatabaseRow[], void, void> {
  for await (const page of fieldPages(run, schema, choice, behind)) yield page.map(databaseRow);
}

/** The same, with the columns as they are in the database. */
export async function* fieldPages(
  run: RunStatement,
  schema: string,
  choice: RowChoice,
  behind: RowPosition,
): AsyncGenerator<readonly Readonly<Record<string, unknown>>[], void, void> {
  let position = behind;
  for (;;) {
    const page = await run(pageStatement(schema, choice, position));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    position = { thread: String(last.thread), ordinal: Number(last.ordinal) };
  }
}

/** The statement for the page behind a position. */
export function pageStatement(schema: string, choice: RowChoice, behind: RowPosition): PgStatement {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const wanted: string[] = [];
  if (choice.thread === undefined) {
    const position = `(${parameter(behind.thread)}::bigint, ${parameter(behind.ordinal)}::bigint)`;
    wanted.push(`(r.thread, r.ordinal) > ${position}`);
  } else {
    wanted.push(`r.thread = ${parameter(choice.thread)}::bigint`);
    wanted.push(`r.ordinal > ${parameter(behind.ordinal)}::bigint`);
  }
  // The indexes cover only the first characters, because a long ID does not fit into one.
  if (choice.tenant_id !== undefined) {
    const id = parameter(choice.tenant_id);
    wanted.push(`t.tenant_id = ${id} and left(t.tenant_id, 64) = left(${id}, 64)`);
  }
  if (choice.run_ids !== undefined) {
    const runs = choice.run_ids.map((run) => {
      const id = parameter(run);
      return `r.run_id = ${id} and left(r.run_id, 64) = left(${id}, 64)`;
    });
    wanted.push(`(${runs.join(" or ")})`);
  }
  for (const name of ["thread_id", "event_id", "trace_id"] as const) {
    const id = choice[name];
    const column = name === "thread_id" ? "t.thread_id" : `r.${name}`;
    if (id !== undefined) wanted.push(`${column} = ${parameter(id)}`);
  }
  const text = `
    select * from (
      select ${ROW_COLUMNS}, ${choice.heads === true ? `${HEAD_COLUMNS}, ` : ""}
          row_number() over place as number, sum(octet_length(r.event)) over place as bytes
        from ${schema}.rows r left join ${schema}.threads t on t.thread = r.thread
        where ${wanted.join(" and ")}
        window place as (order by r.thread, r.ordinal rows unbounded preceding)
        order by r.thread, r.ordinal limit ${PAGE_ROWS}) page
      where number = 1 or bytes <= ${PAGE_BYTES}
      order by thread::bigint, ordinal::bigint`;
  return { text, values };
}
