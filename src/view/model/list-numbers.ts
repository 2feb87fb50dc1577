import { topRuns } from "./filter-rows.ts";
import type { RunRow } from "./run-index.ts";
import { isWaiting } from "./story-words.ts";

/** Fewer runs are described in words: a share or a percentile of them says little. */
export const FEW_RUNS = 20;

/** The numbers above the list. */
export interface ListNumbers {
  readonly runs: number;
  readonly failed: number;
  /** Runs that wait for a person now. */
  readonly waiting: number;
  /** Durations in ms. Absent if no run has ended. */
  readonly durations?: {
    readonly shortest: number;
    readonly p50: number;
    readonly p95: number;
    readonly longest: number;
  };
  /** Known tokens. */
  readonly input?: number;
  readonly output?: number;
  /** Known cost in US dollars. */
  readonly cost?: number;
  /** If a part of the cost is an estimate: the list of prices with its date. */
  readonly estimatedBy?: string;
}

/** Numbers of some rows. Tokens and cost of a sub-run are those of its parent, too, and count once. */
export function numbersOf(rows: readonly RunRow[]): ListNumbers {
  // One loop over plain numbers: it runs at each key stroke of a search over 100,000 runs.
  const isTop = topRuns(rows);
  const ended = new Float64Array(rows.length);
  let [failed, waiting, ends] = [0, 0, 0];
  let input: number | undefined;
  let output: number | undefined;
  let cost: number | undefined;
  let estimatedBy: string | undefined;
  for (const { run } of rows) {
    const { cost_usd, estimated_by, input_tokens, outcome, output_tokens, working_ms } = run;
    if (outcome === "failed") failed += 1;
    else if (isWaiting(run)) waiting += 1;
    if (working_ms !== undefined) {
      ended[ends] = working_ms;
      ends += 1;
    }
    if (!isTop(run)) continue;
    if (input_tokens !== undefined) input = (input ?? 0) + input_tokens;
    if (output_tokens !== undefined) output = (output ?? 0) + output_tokens;
    const dollars = cost_usd === undefined ? Number.NaN : Number(cost_usd);
    if (Number.isFinite(dollars)) cost = (cost ?? 0) + dollars;
    estimatedBy ??= estimated_by;
  }
  return {
    runs: rows.length,
    failed,
    waiting,
    ...(ends === 0 ? {} : { durations: durationsOf(ended.subarray(0, ends).sort()) }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cost === undefined ? {} : { cost }),
    ...(estimatedBy === undefined ? {} : { estimatedBy }),
  };
}

function durationsOf(sorted: Float64Array): NonNullable<ListNumbers["durations"]> {
  // The nearest rank: the duration of a run of the list.
  const at = (share: number) => sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1] ?? 0;
  return { shortest: at(0), p50: at(0.5), p95: at(0.95), longest: at(1) };
}

/** Failed runs as a share of all: `7.7%`; never `0%` or `100%` if that is not exact. */
export function shareText(part: number, all: number): string {
  if (all === 0 || part === 0) return "0%";
  if (part === all) return "100%";
  const percents = Math.min(Math.max((part / all) * 100, 0.1), 99.9);
  return `${percents < 10 || percents > 99 ? percents.toFixed(1) : Math.round(percents)}%`;
}
