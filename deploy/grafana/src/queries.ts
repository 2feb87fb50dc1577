/**
 * A selector: `series("entelix_runs_total", 'entelix_root="true"')` is `entelix_runs_total{entelix_root="true"}`.
 */
export function series(metric: string, ...matchers: readonly string[]): string {
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(", ")}}`;
}

/**
 * A metric of the collector itself. Its name has a type or unit suffix or not, by the version of the collector
 * and by how its reader is configured, so both are matched.
 */
export function collectorSeries(name: string, ...matchers: readonly string[]): string {
  return `{${[`__name__=~"otelcol_${name}(_total|_bytes)?"`, ...matchers].join(", ")}}`;
}

/**
 * Counters that a process sends under the conventions' present names, their earlier ones, or both
 * (`OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup`).
 */
export interface RenamedSeries {
  readonly now: string;
  readonly before: string;
}

/** A selector of counters. */
export type Counters = string | RenamedSeries;

/** What tells apart the calls that one process counts under either name. */
const SAME_CALLS = "unless on (job, instance, gen_ai_operation_name)";

/**
 * By how much counters grew in the window, exactly: whole numbers stay whole, and windows laid side by side add up.
 *
 * `increase()` alone is no answer here. It extrapolates, and it does not see a series that is born at its value: the
 * first failure of its kind, or all that a process counted before its first export. A process counts from 0 and has
 * an `instance` of its own, so a series that was not there the day before the window grew by all it has. Only where
 * a series fell in the window (the collector started again, or a process whose `service.instance.id` somebody pinned)
 * is `increase()` asked. One that fell just before the window's first sample grew by all it has since, too.
 *
 * @param selector with an earlier name, too, a process is counted by either, and never twice.
 * @param ago how much earlier, such as `1w`. Default: now.
 */
export function grown(selector: Counters, window: string, ago = ""): string {
  const then = ago === "" ? "" : ` offset ${ago}`;
  if (typeof selector !== "string") {
    const { before, now } = selector;
    const sent = `last_over_time(${now}[${window}]${then})`;
    // A process that sends both names is counted by the present one.
    return `${grown(now, window, ago)} or ((${grown(before, window, ago)}) ${SAME_CALLS} ${sent})`;
  }
  const now = `last_over_time(${selector}[${window}]${then})`;
  const before = `last_over_time(${selector}[1d] offset ${ago}${window})`;
  const restarted = `increase(${selector}[${window}]${then}) and resets(${selector}[${window}]${then}) > 0`;
  return `(${restarted}) or (${now} - (${before} <= ${now} or 0 * ${now}))`;
}

/**
 * How long ago counters grew, in seconds before the end of the time range: `last` or `first` time in it. As exact as a
 * bar is wide. A series grew where it is above what it was in the hour before, or was not there.
 */
export function grownAgo(
  which: "first" | "last",
  labels: readonly string[],
  selector: string,
): string {
  const [outer, inner] = which === "last" ? ["max", "max_over_time"] : ["min", "min_over_time"];
  const times = `timestamp(${selector} unless last_over_time(${selector}[1h] offset ${STEP}) >= ${selector})`;
  return `time() - ${outer} ${by(labels)}(${inner}(${times}[${RANGE}:${STEP}]))`;
}

/** The window of one bar or point of a chart; bars do not overlap and leave nothing out. */
export const STEP = "$__interval";

/** The whole time range of the dashboard, for numbers and tables. */
export const RANGE = "$__range";

/** `sum by (labels) (expression)`; without labels, one sum. */
export function sum(labels: readonly string[], expression: string): string {
  return `sum ${by(labels)}(${expression})`;
}

export function max(labels: readonly string[], expression: string): string {
  return `max ${by(labels)}(${expression})`;
}

/** `part` of `whole`; where there is no whole there is no ratio, rather than a division by 0. */
export function ratio(part: string, whole: string): string {
  return `${part} / (${whole} > 0)`;
}

/** The value that `share` of the observations of a histogram stay below. `buckets` are its `_bucket` series. */
export function quantile(
  share: number,
  labels: readonly string[],
  buckets: Counters,
  window: string,
): string {
  return `histogram_quantile(${share}, ${sum(["le", ...labels], grown(buckets, window))})`;
}

/** 0 where there is no series at all: "none so far" of a metric that is born with its first case. */
export function orZero(expression: string): string {
  return `${expression} or vector(0)`;
}

function by(labels: readonly string[]): string {
  return labels.length === 0 ? "" : `by (${labels.join(", ")}) `;
}
