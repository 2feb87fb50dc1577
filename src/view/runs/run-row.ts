import { formatDecimal } from "../../events/door.ts";
import type { ViewRun } from "../format.ts";
import { type CostEstimates, estimatedCost } from "./estimates.ts";
import { goesOn, type IndexedRun } from "./indexed-run.ts";
import { openWaits } from "./open-waits.ts";
import type { RunTraits } from "./run-facts.ts";
import { totalUsage } from "./run-trees.ts";
import { hasEnded } from "./stories.ts";

/** A run as the list has it. */
export function rowOf(run: IndexedRun, estimates?: CostEstimates): ViewRun {
  const { end, start } = run;
  const begin = end === 0n ? "anew" : "revived";
  const { beforeMs, ms } = openWaits(run, { start: Number(end || start) / 1e6, begin });
  const waited = run.waitedMs + ms;
  const waiting = waited + run.waitedBeforeMs + beforeMs;
  const usage = totalUsage(run);
  const working = Math.max(Math.round(Number(end - start) - waited * 1e6) / 1e6, 0);
  const isOpen = end === 0n || goesOn(run);
  return {
    key: run.key,
    run_id: run.run_id,
    ...traitsIn(run),
    ...run.story,
    ...(isOpen ? { asked: undefined } : {}),
    tenant_id: run.tenant_id,
    trace_id: run.trace?.id ?? "",
    ...(run.parentId === undefined ? {} : { parent_run_id: run.parentId }),
    ...(run.resumedFrom === undefined ? {} : { resumed_from: run.resumedFrom }),
    ...((run.resumedBy?.size ?? 0) === 0 || hasEnded(run) ? {} : { resumed: true }),
    start_ns: String(start),
    end_ns: isOpen ? null : String(end),
    ...(isOpen ? {} : { working_ms: working }),
    ...(waiting > 0 ? { waiting_ms: waiting } : {}),
    ...(usage.input === undefined ? {} : { input_tokens: usage.input }),
    ...(usage.output === undefined ? {} : { output_tokens: usage.output }),
    ...(usage.cost === undefined ? estimateIn(run, estimates) : { cost_usd: usage.cost }),
    spans: run.spans,
    rows: run.rows,
    child_runs: run.childCount,
  };
}

/** The estimated cost of a run whose senders say none. */
function estimateIn(
  run: IndexedRun,
  estimates: CostEstimates | undefined,
): Pick<ViewRun, "cost_usd" | "estimated_by"> {
  const cost = estimatedCost(run);
  if (cost === undefined || estimates === undefined) return {};
  return { cost_usd: formatDecimal(cost), estimated_by: estimates.name };
}

/** The traits of a run; those of an open run if none are known, or if it goes on after a pause. */
export function traitsIn(run: IndexedRun): RunTraits {
  const { tenant_id, traits } = run;
  if (traits !== undefined && !goesOn(run)) return traits;
  const agent = traits?.agent;
  return { tenant_id, ...(agent === undefined ? {} : { agent }), outcome: "open" };
}
