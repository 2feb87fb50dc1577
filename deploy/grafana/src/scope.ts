import { series } from "./queries.ts";

/** The services that are chosen. */
export const OF_SERVICE = 'job=~"$service"';

/** The tenants that are chosen. Durations, tool calls and model calls have no tenant, so it can't narrow them. */
export const OF_TENANT = 'entelix_tenant_id=~"$tenant"';

export const OF_AGENT = 'gen_ai_agent_name="$agent"';
export const OF_TOOL = 'gen_ai_tool_name="$tool"';
export const OF_MODEL = 'gen_ai_request_model=~"$model"';

/** Counted once: a failure that rises through nested runs ends each of them, but only one of them is the root. */
export const ROOT = 'entelix_root="true"';
/** Root runs and nested ones: of an agent's own figures. */
export const EVERY_RUN = 'entelix_root=~"true|false"';
export const NESTED = 'entelix_root="false"';

export const FAILED = 'entelix_run_outcome="failed"';
export const COMPLETE = 'entelix_run_outcome="complete"';

/** A pause ends a segment of a run, not the run. */
export const PAUSED = 'entelix_run_outcome="interrupted"';
export const NOT_PAUSED = 'entelix_run_outcome!="interrupted"';

/** A metric for the chosen services and tenants. */
export function chosen(metric: string, ...matchers: readonly string[]): string {
  return series(metric, OF_SERVICE, OF_TENANT, ...matchers);
}

/** The ended runs of the chosen services and tenants. */
export function runs(...matchers: readonly string[]): string {
  return chosen("entelix_runs_total", ...matchers);
}

/** Spans of runs, not of their tool calls. */
export const RUN_SPANS = 'gen_ai_operation_name=~"invoke_agent|invoke_workflow"';

/** The ended run spans of the chosen services and tenants, as the collector counts them. */
export function runSpans(...matchers: readonly string[]): string {
  return chosen("entelix_spans_calls_total", RUN_SPANS, ...matchers);
}

/** The durations of those spans. */
export function runSpanDurations(...matchers: readonly string[]): string {
  return chosen("entelix_spans_duration_seconds_bucket", RUN_SPANS, ...matchers);
}
