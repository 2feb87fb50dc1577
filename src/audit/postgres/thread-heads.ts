import type { RowAnchor, ThreadKey } from "../audit-row.ts";
import { threadName } from "./append-batch.ts";
import type { PgStatement } from "./pg-pool.ts";
import type { RunStatement } from "./row-pages.ts";
import { idOf, storedText } from "./stored-rows.ts";

/** A thread as the database has it. */
export interface ThreadHead extends RowAnchor {
  /** Its number in the database. */
  readonly thread: string;
  /** Rows up to this one are archived. */
  readonly archived: number;
  readonly tenant_id: string;
  readonly thread_id: string;
}

const COLUMNS = `thread::text as thread, ordinal::text as ordinal, encode(hash, 'hex') as hash,
  archived::text as archived, tenant_id, thread_id`;
const PAGE_THREADS = 1000;

/** A thread, `undefined` where it has no rows. */
export async function threadHead(
  run: RunStatement,
  schema: string,
  key: ThreadKey,
): Promise<ThreadHead | undefined> {
  const [row] = await run({
    text: `select ${COLUMNS} from ${schema}.threads where name = $1`,
    values: [threadName(key)],
  });
  return row === undefined ? undefined : headOf(row);
}

/** A tenant's threads. */
export function threadsOf(
  run: RunStatement,
  schema: string,
  tenant: string,
): AsyncGenerator<ThreadHead, void, void> {
  return threadPages(run, (behind) => ({
    text: `select ${COLUMNS} from ${schema}.threads
      where left(tenant_id, 64) = left($1, 64) and tenant_id = $1 and thread > $2::bigint
      order by threads.thread limit ${PAGE_THREADS}`,
    values: [storedText(tenant), behind],
  }));
}

/** Threads of which no row is left. */
export function emptyThreads(
  run: RunStatement,
  schema: string,
): AsyncGenerator<ThreadHead, void, void> {
  return threadPages(run, (behind) => ({
    text: `select ${COLUMNS} from ${schema}.threads
      where thread > $1::bigint
        and not exists (select from ${schema}.rows r where r.thread = threads.thread)
      order by threads.thread limit ${PAGE_THREADS}`,
    values: [behind],
  }));
}

async function* threadPages(
  run: RunStatement,
  statementBehind: (thread: string) => PgStatement,
): AsyncGenerator<ThreadHead, void, void> {
  let behind = "0";
  for (;;) {
    const rows = await run(statementBehind(behind));
    for (const row of rows) {
      const head = headOf(row);
      yield head;
      behind = head.thread;
    }
    if (rows.length < PAGE_THREADS) return;
  }
}

/** @throws TypeError when the row is none of `threads`. */
function headOf(row: Readonly<Record<string, unknown>>): ThreadHead {
  const { archived, hash, ordinal, tenant_id, thread, thread_id } = row;
  if (
    typeof thread !== "string" ||
    typeof hash !== "string" ||
    typeof tenant_id !== "string" ||
    typeof thread_id !== "string"
  ) {
    throw new TypeError("audit log: the database answered with something else than threads");
  }
  const numbers = { ordinal: Number(ordinal), archived: Number(archived) };
  return { thread, hash, tenant_id: idOf(tenant_id), thread_id: idOf(thread_id), ...numbers };
}
