import fc from "fast-check";
import type { ViewRun } from "../../../src/view/format.ts";
import { RunIndex, type RunRow } from "../../../src/view/model/run-index.ts";

/** A run with the fields that every run has. */
export function viewRun(key: string, fields: Partial<ViewRun> = {}): ViewRun {
  return {
    key,
    run_id: key,
    tenant_id: "acme",
    trace_id: "0".repeat(32),
    start_ns: "1764172800000000000",
    end_ns: null,
    outcome: "open",
    spans: 1,
    rows: 0,
    child_runs: 0,
    ...fields,
  };
}

/** Rows of the list for these runs. */
export function rowsOf(...runs: readonly ViewRun[]): readonly RunRow[] {
  const index = new RunIndex();
  index.merge(runs);
  return index.rows;
}

/** `start_ns` at this many seconds after some time. */
export function atSecond(second: number): { readonly start_ns: string } {
  return { start_ns: `${1_764_172_800 + second}000000000` };
}

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

/** Runs with few different values, so that many are equal in each column. */
export const runs: fc.Arbitrary<readonly ViewRun[]> = fc
  .array(
    fc.record({
      second: fc.nat(5),
      outcome: fc.constantFrom("complete", "failed", "open", "interrupted"),
      tenant_id: fc.constantFrom("acme", "globex"),
      agent: optional(fc.constantFrom("a", "B", "é")),
      failure_kind: optional(fc.constantFrom("internal", "cancelled")),
      failure_origin: optional(fc.constantFrom("model", "tool")),
      parent_run_id: optional(fc.constantFrom("elsewhere", "run-0", "run-1")),
      working_ms: optional(fc.nat(3)),
      waiting_ms: optional(fc.nat(3)),
      input_tokens: optional(fc.nat(3)),
      output_tokens: optional(fc.nat(3)),
      tags: optional(fc.subarray(["web", "test"], { minLength: 1 })),
      cost_usd: optional(fc.constantFrom("0.1", "10", "2", "none")),
    }),
    { maxLength: 30 },
  )
  .map((all) =>
    all.map(({ second, ...fields }, at) => {
      const given = Object.entries(fields).filter(([, value]) => value !== undefined);
      return viewRun(`run-${at}`, { ...atSecond(second), ...Object.fromEntries(given) });
    }),
  );
