import type { ViewRun } from "../format.ts";
import { topRuns } from "./filter-rows.ts";
import type { RunRow } from "./run-index.ts";
import { sumsOf } from "./run-sums.ts";

/** What a row of a conversation counts. */
export interface ConversationCounts {
  readonly runs: number;
  readonly failed: number;
}

/**
 * Folds the runs of each conversation into one row. A conversation is a thread of a tenant. Its row has the last run,
 * and the sums of all. A run without a thread, or alone in its thread, stays as it is.
 *
 * @param byTime the newest first.
 * @returns rows by the start of their newest run, the newest first.
 */
export function groupRows(byTime: readonly RunRow[]): readonly RunRow[] {
  const tenants = new Map<string, Map<string, RunRow[]>>();
  const groups: RunRow[][] = [];
  for (const row of byTime) {
    const group = groupOf(row, tenants);
    if (group.length === 0) groups.push(group);
    group.push(row);
  }
  return groups.map(conversationRow);
}

/** The rows of the same conversation; none yet, or for a run without a thread. */
function groupOf({ run }: RunRow, tenants: Map<string, Map<string, RunRow[]>>): RunRow[] {
  const { tenant_id, thread_id } = run;
  if (thread_id === undefined) return [];
  const threads = tenants.get(tenant_id) ?? new Map<string, RunRow[]>();
  const group = threads.get(thread_id) ?? [];
  if (group.length === 0) tenants.set(tenant_id, threads.set(thread_id, group));
  return group;
}

/** @param rows at least one, the newest first. */
function conversationRow(rows: readonly RunRow[]): RunRow {
  const [newest] = rows;
  if (newest === undefined) throw new RangeError("rows: expected at least one row");
  return rows.length === 1 ? newest : new ConversationRow(newest, rows);
}

/** Its sums are computed when they are asked for: a list by time shows few of its rows. */
class ConversationRow implements RunRow {
  readonly startMs: number;
  readonly text: string;
  readonly folded: NonNullable<RunRow["folded"]>;
  readonly #newest: ViewRun;
  #run: ViewRun | undefined;

  constructor({ run, startMs, text }: RunRow, rows: readonly RunRow[]) {
    this.startMs = startMs;
    this.text = text;
    this.folded = { kind: "conversation", rows };
    this.#newest = run;
  }

  get id(): string {
    return `conversation ${JSON.stringify([this.#newest.tenant_id, this.#newest.thread_id])}`;
  }

  get run(): ViewRun {
    const { rows } = this.folded;
    this.#run ??= {
      ...this.#newest,
      ...sumsOf(rows.map(({ run }) => run).filter(topRuns(rows))),
    };
    return this.#run;
  }
}

export function conversationCounts({ folded, run }: RunRow): ConversationCounts {
  const runs = folded === undefined ? [run] : folded.rows.map((row) => row.run);
  return { runs: runs.length, failed: runs.filter(({ outcome }) => outcome === "failed").length };
}
