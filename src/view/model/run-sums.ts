import type { ViewRun } from "../format.ts";
import { addCosts } from "./usage.ts";

/** Sums of several runs. A value that no run has is absent. */
export interface RunSums {
  readonly working_ms?: number;
  readonly waiting_ms?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_usd?: string;
  /** If a part of the cost is an estimate: the list of prices with its date. */
  readonly estimated_by?: string;
  readonly spans: number;
  readonly rows: number;
  readonly child_runs: number;
}

const NUMBERS = ["working_ms", "waiting_ms", "input_tokens", "output_tokens"] as const;

export function sumsOf(runs: readonly ViewRun[]): RunSums {
  const sums: { -readonly [N in keyof RunSums]: RunSums[N] } = { spans: 0, rows: 0, child_runs: 0 };
  for (const run of runs) {
    for (const name of NUMBERS) {
      const value = run[name];
      if (value !== undefined) sums[name] = (sums[name] ?? 0) + value;
    }
    const { child_runs, cost_usd, estimated_by, rows, spans } = run;
    const cost = addCosts(sums.cost_usd, cost_usd);
    if (cost !== undefined) sums.cost_usd = cost;
    if (estimated_by !== undefined) sums.estimated_by = estimated_by;
    sums.spans += spans;
    sums.rows += rows;
    sums.child_runs += child_runs;
  }
  return sums;
}
