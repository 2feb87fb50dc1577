import type { AuditRow, RowAnchor, ThreadKey } from "../audit-row.ts";
import { withEvent } from "../stored-row.ts";
import { threadName } from "./append-batch.ts";
import type { PgStatement } from "./pg-pool.ts";
import { type RunStatement, rowPages } from "./row-pages.ts";
import { idOf, storedText } from "./stored-rows.ts";

/** A thread in the database. */
export interface ThreadHead extends RowAnchor {
  /** Its number in the database. */
  readonly thread: string;
  /** Rows up to this ordinal are archived. */
  readonly archived: number;
  readonly tenant_id: string;
  readonly thread_id: string;
}

const COLUMNS = `thread::text as thread, ordinal::text as ordinal, encode(hash, 'hex') as hash,
  archived::text as archived, tenant_id, thread_id`;
const PAGE_THREADS = 1000;

/** A thread. `undefined` if it has no rows. */
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

/** Threads whose rows are all gone. */
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

/** @throws TypeError if the row is not one of `threads`. */
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

/**
 * The rows of a thread with ordinals above `after`.
 *
 * @throws (rejects) with an Error naming the row if it is damaged, missing or does not continue the chain: a changed
 *   row must not be returned as a record.
 */
export async function loadThread(
  run: RunStatement,
  schema: string,
  head: ThreadHead,
  after: number,
): Promise<readonly AuditRow[]> {
  const { thread } = head;
  const rows: AuditRow[] = [];
  let before: RowAnchor | undefined;
  let last = after;
  for await (const page of rowPages(run, schema, { thread }, { thread, ordinal: after })) {
    for (const { ordinal, problem, row: stored } of page) {
      if (stored === undefined || problem !== undefined) {
        throw damaged(head, ordinal, problem ?? "it is no row");
      }
      if (ordinal !== last + 1) throw damaged(head, last + 1, "it is missing");
      if (before !== undefined && stored.prev !== before.hash) {
        throw damaged(head, ordinal, "it does not continue the row before");
      }
      const row = withEvent(stored);
      if (row === undefined) {
        throw damaged(head, ordinal, "the event is no JSON object with a kind");
      }
      rows.push(row);
      before = row;
      last = ordinal;
    }
  }
  if (last < head.ordinal && after < head.ordinal) throw damaged(head, last + 1, "it is missing");
  return rows;
}

function damaged({ tenant_id, thread_id }: ThreadHead, ordinal: number, problem: string): Error {
  return new Error(
    `audit log: tenant ${tenant_id}, thread ${thread_id}, row ${ordinal}: ${problem}; verify the log`,
  );
}
