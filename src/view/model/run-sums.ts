import type { ViewRun } from "../format.ts";
import { addCosts } from "./usage.ts";

/**
 * Sums of several runs. A value that no run has is absent. `estimated_by` says that a part of the cost is an estimate.
 */
export type RunSums = Pick<
  ViewRun,
  | "working_ms"
  | "waiting_ms"
  | "input_tokens"
  | "output_tokens"
  | "cost_usd"
  | "estimated_by"
  | "spans"
  | "rows"
  | "child_runs"
>;

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
