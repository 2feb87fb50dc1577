import type { ViewRun } from "../format.ts";
import { addDecimals } from "./usage.ts";

/** Sums of several runs. A value that no run has is absent. */
export interface RunSums {
  readonly working_ms?: number;
  readonly waiting_ms?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_usd?: string;
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
    const { child_runs, cost_usd, rows, spans } = run;
    if (cost_usd !== undefined) {
      sums.cost_usd = sums.cost_usd === undefined ? cost_usd : addDecimals(sums.cost_usd, cost_usd);
    }
    sums.spans += spans;
    sums.rows += rows;
    sums.child_runs += child_runs;
  }
  return sums;
}
