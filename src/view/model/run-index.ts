import type { ViewRun } from "../format.ts";
import { msOf } from "./formats.ts";
import { StoryIndex } from "./run-stories.ts";
import { searchText } from "./search-text.ts";

/** A row of the list, with values that are computed once, not at every key stroke. */
export interface RunRow {
  /** Identifies the row: the key of its run, or the name of its conversation. */
  readonly id: string;
  /** The run. If runs are folded below it: the newest of them, with the sums of all. */
  readonly run: ViewRun;
  /** When the run began: Unix time in ms. */
  readonly startMs: number;
  /** Text for the search in lower case: the columns as they are shown, and the IDs. */
  readonly text: string;
  /** The same for the sums of a row with folded runs, whose other texts are in the rows of the runs. */
  readonly sums?: string;
  readonly folded?: FoldedRuns;
}

/** Rows that a row stands for. */
export interface FoldedRuns {
  /** `pauses`: the runs that paused before this one. `conversation`: all runs of a thread. */
  readonly kind: "pauses" | "conversation";
  /** The newest first. */
  readonly rows: readonly RunRow[];
}

/** The runs of the page, by key. A run that paused is folded below the run that continues it. */
export class RunIndex {
  readonly #stories = new StoryIndex();

  /** In no order. Each change makes a new array. */
  get rows(): readonly RunRow[] {
    return this.#stories.rows;
  }

  /** One run, also one that is folded, without the sums of others. */
  run(key: string): ViewRun | undefined {
    return this.#stories.run(key);
  }

  /**
   * Adds new runs and replaces those that have changed.
   *
   * @returns how many are new.
   */
  merge(runs: readonly ViewRun[]): number {
    return this.#stories.set(runs.map(rowOf));
  }

  /** Removes the runs that began before a time, Unix time in ns: the server has left them out. */
  removeBefore(ns: string): void {
    this.#stories.remove(
      ({ run: { start_ns } }) =>
        start_ns.length < ns.length || (start_ns.length === ns.length && start_ns < ns),
    );
  }
}

/** The row of one run. */
export function rowOf(run: ViewRun): RunRow {
  const startMs = msOf(run.start_ns);
  return { id: run.key, run, startMs, text: searchText(run, startMs) };
}
