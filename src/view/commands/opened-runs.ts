import { CliError, count, counted, Interruption, type Io, safe } from "../../cli/door.ts";
import { MOST_LISTED } from "../model/list-limits.ts";
import type { SourcesOptions, ViewedRuns } from "../runs/viewed-runs.ts";
import { openSources } from "./open-sources.ts";

/**
 * Opens the sources, works on their runs, and removes temporary files.
 *
 * @param work returns the exit code; `undefined` if the signal ended it early.
 */
export async function withRuns(
  operands: readonly string[],
  options: SourcesOptions,
  io: Io,
  work: (runs: ViewedRuns, signal: AbortSignal) => Promise<number | undefined>,
): Promise<number> {
  const interruption = new Interruption();
  try {
    const runs = await openSources(operands, options, io);
    try {
      return (await work(runs, interruption.signal)) ?? interruption.exitCode ?? 1;
    } finally {
      await runs.close();
    }
  } finally {
    interruption.release();
    io.leaveSoon();
  }
}

/** Waits until the sources were read. @returns `false` if the signal came first. */
export async function allRead(runs: ViewedRuns, signal: AbortSignal): Promise<boolean> {
  await Promise.race([runs.ready(), aborted(signal)]);
  return !signal.aborted;
}

/** Keys of the runs with the ID of `--run`. @throws CliError when there is none. */
export function keysOf(runs: ViewedRuns, run: string): readonly string[] {
  const keys = runs.keysOf(run);
  if (keys.length > 0) return keys;
  throw new CliError(`--run: expected a run of the sources, got ${safe(run)}`);
}

/** 2: a source has problems. The rest was read. */
export function exitCodeOf(runs: ViewedRuns): 0 | 2 {
  return runs.list([]).sources.some(({ problem_count }) => problem_count > 0) ? 2 : 0;
}

/** A line about the runs that were left out, if there are any. */
export function leftOutLines(runs: ViewedRuns): string[] {
  const { left_out = 0 } = runs.list([]);
  if (left_out === 0) return [];
  return [
    `${counted(left_out, "older run")} left out: only the newest ${count(MOST_LISTED)} are shown. To see older runs, name fewer sources, or one run with --run ID.`,
  ];
}

/** Problems of the sources: a line for each source that has any, with its first problem. */
export function problemLines(runs: ViewedRuns): string[] {
  return runs.list([]).sources.flatMap(({ name, problem_count, problems: [first] }) => {
    if (first === undefined) return [];
    const { line, place, problem } = first;
    const more = problem_count === 1 ? "" : ` (${count(problem_count - 1)} more)`;
    const where = line === undefined ? place : `${place}, line ${line}`;
    return [safe(`${name === place ? "" : `${name}: `}${where}: ${problem}${more}`)];
  });
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
