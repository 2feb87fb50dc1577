/**
 * All metrics of this package. `docs/metrics.md` is generated from this table, rules and dashboards use its
 * names, and the compiler checks every use.
 *
 * `gen_ai.*` names and their buckets are copied from open-telemetry/semantic-conventions-genai at
 * commit e07f4eb (2 October 2026, status "development").
 */
export const METRICS = {
  "gen_ai.invoke_agent.duration": histogram(
    "s",
    doubling(0.1, 13),
    ["gen_ai.agent.name", "error.type"],
    "Duration of a run, from its `started` to its end. Each segment of a run that continued after a pause is measured, if it has both.",
  ),
  "gen_ai.invoke_workflow.duration": histogram(
    "s",
    doubling(0.1, 13),
    ["gen_ai.workflow.name", "error.type"],
    "The same for a run that is a workflow around agents.",
  ),
  "gen_ai.execute_tool.duration": histogram(
    "s",
    doubling(0.01, 14),
    ["gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.agent.name", "error.type"],
    "Duration of a tool call, from its end event. If that has none: from its start to its end.",
  ),
  "gen_ai.invoke_agent.tool_calls": histogram(
    "{tool_call}",
    doubling(1, 8),
    ["gen_ai.agent.name"],
    "Own tool calls of a run, including failed and denied ones. Each segment of a run that continued after a pause is measured.",
  ),
  "gen_ai.client.operation.duration": histogram(
    "s",
    doubling(0.01, 14),
    ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "error.type"],
    "Duration of a model call, including retries, from its start to its last output or its failure. A call without a reported end is not measured.",
  ),
  "gen_ai.client.inference.usage.input_tokens": counter(
    "{token}",
    [
      "gen_ai.operation.name",
      "gen_ai.provider.name",
      "gen_ai.request.model",
      "gen_ai.token.modality",
    ],
    "Input tokens of model calls, including cached ones, from the ends of the calls.",
  ),
  "gen_ai.client.inference.usage.output_tokens": counter(
    "{token}",
    [
      "gen_ai.operation.name",
      "gen_ai.provider.name",
      "gen_ai.request.model",
      "gen_ai.token.modality",
    ],
    "Output tokens of model calls, from the ends of the calls.",
  ),
  "entelix.runs": counter(
    "{run}",
    [
      "entelix.run.outcome",
      "entelix.failure.kind",
      "entelix.failure.origin",
      "gen_ai.agent.name",
      "entelix.tenant_id",
      "entelix.root",
    ],
    "Runs that ended. A run that continued after a pause counts twice.",
  ),
  "entelix.runs.working_time": histogram(
    "s",
    [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600],
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Working time of a root run, from its `started` to its answer or its pause, without the time in which it or a descendant waited for a person's decision. A wait before the run is not part of it. Each segment of a run that continued after a pause is measured. Failed and abandoned runs are not measured.",
  ),
  "entelix.runs.active": upDownCounter(
    "{run}",
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Runs that are open now.",
  ),
  "entelix.runs.waiting": upDownCounter(
    "{run}",
    ["entelix.run.waits_for", "gen_ai.agent.name"],
    "Runs that are open now, by what they wait for.",
  ),
  "entelix.runs.idle.max": gauge(
    "s",
    ["entelix.run.waits_for", "gen_ai.agent.name"],
    "Longest time since the last event of one of these runs; 0 without such a run.",
  ),
  "entelix.runs.degraded": counter(
    "{run}",
    ["gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Runs that completed although the last call of this tool failed. A run counts once for each such tool.",
  ),
  "entelix.runs.looping": counter(
    "{run}",
    ["entelix.run.loop", "gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Runs whose own tool calls are in a loop, counted when the loop is detected. A run counts once until it pauses. If two tools alternate, the label is the first by name.",
  ),
  "entelix.failures": counter(
    "{failure}",
    ["entelix.failure.fingerprint"],
    "Failed root runs and tool calls by fingerprint, which failures of one cause share. A fingerprint without a failure for 24 hours is dropped.",
  ),
  "entelix.tool.failures": counter(
    "{failure}",
    ["gen_ai.tool.name", "entelix.tool.error_kind", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tool calls that failed. Pauses, denials and cancelled calls do not count.",
  ),
  "entelix.tool.cancelled": counter(
    "{tool_call}",
    ["gen_ai.tool.name", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tool calls that were cancelled: by a user, a deadline, or the end of their run.",
  ),
  "entelix.tool.terminal_failures": counter(
    "{run}",
    ["gen_ai.tool.name", "entelix.tool.error_kind", "gen_ai.agent.name", "entelix.tenant_id"],
    "Root runs that failed as `tool_error_terminal`, by the tool that ended them.",
  ),
  "entelix.approvals.pending": upDownCounter(
    "{approval}",
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "Interrupted root runs that wait for an approval.",
  ),
  "entelix.approvals.oldest": gauge(
    "s",
    ["entelix.tenant_id"],
    "Longest wait of a pending approval; 0 without one.",
  ),
  "entelix.tokens": counter(
    "{token}",
    ["gen_ai.token.type", "gen_ai.agent.name", "entelix.tenant_id"],
    "Tokens used. If model calls report usage: counted at the end of each call, for the agent that called, also in runs that fail, pause or stay open. For other trees of runs: the root's usage at its end, including sub-agents. Never both.",
  ),
  "entelix.cost": counter(
    "{USD}",
    ["gen_ai.agent.name", "entelix.tenant_id"],
    "US dollars spent, counted like `entelix.tokens`. Unknown costs are not counted. It is a double: for accounting, use the decimal on the run's span or audit row.",
  ),
  "entelix.bridge.events": counter("{event}", [], "Events received."),
  "entelix.bridge.ignored": counter("{event}", ["entelix.reason"], "Ignored events, by reason."),
  "entelix.bridge.adjustments": counter(
    "{adjustment}",
    ["entelix.reason", "entelix.tenant_id"],
    "Adjustments because of limits, clocks or tenants. Only `tenant_conflicts` has a tenant: the one whose event named a run or trace of another tenant.",
  ),
  "entelix.bridge.open_runs": gauge("{run}", [], "Runs that are open in the bridge now."),
  "entelix.bridge.label_overflow": counter(
    "{measurement}",
    ["entelix.label"],
    "Measurements with a label that was replaced by `_other`.",
  ),
  "entelix.bridge.spans_dropped": counter(
    "{span}",
    ["entelix.reason"],
    "Lost spans, by reason. Only with `setupTelemetry`.",
  ),
  "entelix.audit.append_failures": counter("{row}", [], "Audit rows that could not be stored."),
} as const satisfies Record<string, MetricDoc>;

/**
 * All attributes of the metrics, with their values. None is an ID, and none is a sender's free text without
 * a cap.
 */
export const METRIC_ATTRIBUTES = {
  "gen_ai.agent.name":
    "Name of the agent or workflow; `unknown` for a run without a name, `_other` above the cap.",
  "gen_ai.workflow.name": "Name of the workflow, capped like an agent's name.",
  "gen_ai.tool.name": "Name of the tool; `_other` above the cap.",
  "gen_ai.tool.type": "Always `function`.",
  "gen_ai.operation.name": "Operation of a model call: `chat` or `embeddings`.",
  "gen_ai.provider.name":
    "Provider that answered, also after a fallback: `openai`, `anthropic`, …; `unknown` if the call has none, `_other` from the 21st.",
  "gen_ai.request.model":
    "The requested model; `unknown` if the call has none, `_other` above the cap.",
  "gen_ai.token.modality": "Always `unknown`.",
  "gen_ai.token.type": "`input` or `output`.",
  "error.type":
    "Only on failures: the failure kind of a run or model call (not a benign one), the tool error kind of a call, or `_OTHER`.",
  "entelix.failure.fingerprint":
    "Kind, origin, tool or model, class of the error and wire code of a failure, with `|` between them; `_other` from the 100th.",
  "entelix.tenant_id": "The tenant; `_other` above the cap or outside the allow-list.",
  "entelix.run.outcome":
    "`complete`, `failed`, `interrupted`, `abandoned`; `refused` if the model declined.",
  "entelix.run.waits_for":
    "What an open run waits for, the first that applies: `approval` (a call waits for a decision, or for a child run that has paused), `tool` (a call without an open child run), `model`, `child` (an open child run), `nothing` (it is between calls). `unknown` if it may have ended.",
  "entelix.failure.kind":
    "Only with outcome `failed`: one of the seven failure kinds; `_OTHER` for one that is newer than this package.",
  "entelix.failure.origin":
    "Only with outcome `failed`: where the failure arose, `model`, `tool` or `run`. If the event has none: `tool` for `tool_error_terminal`, `model` for `model_dispatch`, else `run`.",
  "entelix.tool.error_kind":
    "One of the seven tool error kinds; `_OTHER` if the source has none, or one that is newer than this package.",
  "entelix.run.loop":
    "`repeat`: calls of a tool with equal input in a row. `ping_pong`: two calls that alternate, with equal results. `poll`: calls with equal input and equal results.",
  "entelix.root":
    "`true` for a run without a parent, or with an unconfirmed parent. A failure that passed through nested runs is one failed root run.",
  "entelix.reason": "Why: the names in `diagnostics()`.",
  "entelix.label": "`tenant`, `agent`, `tool` or `model` (a provider, too).",
} as const satisfies Record<MetricAttribute, string>;

/** The value of a label above its cap. */
export const OTHER = "_other";

/** The conventions' value for an error of missing or unknown class. */
export const UNCLASSED = "_OTHER";

/** The value of `gen_ai.agent.name` for a run without an agent's name. */
export const UNKNOWN = "unknown";

/** A row of the table. */
export interface MetricDoc {
  readonly kind: "histogram" | "counter" | "updowncounter" | "gauge";
  /** In UCUM notation, as in OpenTelemetry. */
  readonly unit: string;
  readonly attributes: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets: readonly number[] | undefined;
  readonly brief: string;
}

/** The name of a metric of this package. */
export type MetricName = keyof typeof METRICS;

/** The name of an attribute of these metrics. */
export type MetricAttribute = (typeof METRICS)[MetricName]["attributes"][number];

/**
 * The names of a metric in Prometheus, as the collector's `prometheus` exporter writes them with
 * `add_metric_suffixes` on: one, or three for a histogram.
 *
 * @example
 * prometheusNames("entelix.runs"); // ["entelix_runs_total"]
 */
export function prometheusNames(name: MetricName): readonly string[] {
  const { kind, unit } = METRICS[name];
  const base = underscored(name) + (UNIT_SUFFIXES.get(unit) ?? "");
  switch (kind) {
    case "histogram":
      return [`${base}_bucket`, `${base}_sum`, `${base}_count`];
    case "counter":
      return [`${base}_total`];
    case "updowncounter":
    case "gauge":
      return [base];
    default:
      return kind satisfies never;
  }
}

/** The name of an attribute as a label in Prometheus. */
export function prometheusLabel(attribute: MetricAttribute): string {
  return underscored(attribute);
}

/** Units in braces are annotations and add no suffix. */
const UNIT_SUFFIXES: ReadonlyMap<string, string> = new Map([["s", "_seconds"]]);

function underscored(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

/** `count` bounds, each twice the one before, without binary rounding errors. */
function doubling(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => Number((first * 2 ** n).toPrecision(6)));
}

function histogram<const A extends readonly string[]>(
  unit: string,
  buckets: readonly number[],
  attributes: A,
  brief: string,
) {
  return { kind: "histogram", unit, attributes, buckets, brief } as const;
}

function counter<const A extends readonly string[]>(unit: string, attributes: A, brief: string) {
  return { kind: "counter", unit, attributes, buckets: undefined, brief } as const;
}

function upDownCounter<const A extends readonly string[]>(
  unit: string,
  attributes: A,
  brief: string,
) {
  return { kind: "updowncounter", unit, attributes, buckets: undefined, brief } as const;
}

function gauge<const A extends readonly string[]>(unit: string, attributes: A, brief: string) {
  return { kind: "gauge", unit, attributes, buckets: undefined, brief } as const;
}
