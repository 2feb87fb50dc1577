import type { AuditRow, RowAnchor } from "../audit-row.ts";
import { withEvent } from "../stored-row.ts";
import { type RunStatement, rowPages } from "./row-pages.ts";
import type { ThreadHead } from "./thread-heads.ts";

/**
 * The rows of a thread with ordinals above `after`.
 *
 * @throws (rejects) with an Error naming the row when one is damaged, missing or not the one that must
 *   follow: what was tampered with is not given out as a record.
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
