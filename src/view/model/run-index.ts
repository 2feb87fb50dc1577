import { count, durationText } from "../../events/format/door.ts";
import type { ViewRun } from "../format.ts";
import { dollars, localTime, msOf } from "./formats.ts";
import { decisionText } from "./story-words.ts";

/** A run with values that the list computes once, not at every key stroke. */
export interface RunRow {
  readonly run: ViewRun;
  /** Unix time in ms. */
  readonly startMs: number;
  /** Text for the search in lower case: the columns as they are shown, and the IDs. */
  readonly text: string;
}

/** The runs of the page, by key. */
export class RunIndex {
  readonly #positions = new Map<string, number>();
  #rows: readonly RunRow[] = [];

  /** In no order. Each change makes a new array. */
  get rows(): readonly RunRow[] {
    return this.#rows;
  }

  /**
   * Adds new runs and replaces those that have changed.
   *
   * @returns how many are new.
   */
  merge(runs: readonly ViewRun[]): number {
    if (runs.length === 0) return 0;
    const rows = [...this.#rows];
    const before = rows.length;
    for (const run of runs) {
      const position = this.#positions.get(run.key) ?? rows.length;
      this.#positions.set(run.key, position);
      rows[position] = rowOf(run);
    }
    this.#rows = rows;
    return rows.length - before;
  }

  /** Removes the runs that began before a time, Unix time in ns: the server has left them out. */
  removeBefore(ns: string): void {
    const isOlder = ({ run: { start_ns } }: RunRow) =>
      start_ns.length < ns.length || (start_ns.length === ns.length && start_ns < ns);
    if (!this.#rows.some(isOlder)) return;
    this.#rows = this.#rows.filter((row) => !isOlder(row));
    this.#positions.clear();
    for (const [position, { run }] of this.#rows.entries()) this.#positions.set(run.key, position);
  }
}

function rowOf(run: ViewRun): RunRow {
  const startMs = msOf(run.start_ns);
  return { run, startMs, text: searchText(run, startMs) };
}

function searchText(run: ViewRun, startMs: number): string {
  const { cost_usd, decisions = [], input_tokens, output_tokens, waiting_ms, working_ms } = run;
  return [
    localTime(startMs),
    run.agent ?? "",
    run.tenant_id,
    run.outcome,
    run.failure_kind ?? "",
    run.failure_origin ?? "",
    run.interruption_kind ?? "",
    working_ms === undefined ? "" : durationText(working_ms),
    waiting_ms === undefined ? "" : durationText(waiting_ms),
    input_tokens === undefined ? "" : count(input_tokens),
    output_tokens === undefined ? "" : count(output_tokens),
    cost_usd === undefined ? "" : dollars(cost_usd),
    run.run_id,
    run.trace_id,
    run.failure_fingerprint ?? "",
    run.question ?? "",
    run.answer ?? "",
    run.error ?? "",
    run.asked ?? "",
    run.thread_id ?? "",
    run.user ?? "",
    run.session ?? "",
    run.model ?? "",
    ...decisions.map(decisionText),
  ]
    .join("\n")
    .toLowerCase();
}
