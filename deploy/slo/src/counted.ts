import { prometheusLabel, prometheusNames } from "../../../src/bridge/metrics/metric-names.ts";
import { FAILURE_ORIGINS } from "../../../src/events/errors/failure-source.ts";
import { EACH, type Failures, type Objective, type Slow } from "./objective.ts";

const JOB = "job";
const AGENT = prometheusLabel("gen_ai.agent.name");
const TENANT = prometheusLabel("entelix.tenant_id");
export const KIND = prometheusLabel("entelix.failure.kind");
export const ORIGIN = prometheusLabel("entelix.failure.origin");

/** What an objective counts: queries for the increase in a minute. */
export interface Counts {
  /** Good and bad runs, by what has a budget of its own. */
  readonly runs: string;
  /** Bad ones; of failures by kind and origin, too. */
  readonly bad: string;
}

/** The queries of an objective. */
export function countsOf(objective: Objective): Counts {
  const { agent, bad, service, tenant } = objective;
  const scope: readonly (readonly [string, string | undefined])[] = [
    [JOB, service],
    [AGENT, agent],
    [TENANT, tenant],
  ];
  const labels = scope.flatMap(([label, value]) => (value === undefined ? [] : [label]));
  const matchers = scope.flatMap(([label, value]) =>
    value === undefined || value === EACH ? [] : [`${label}=${JSON.stringify(value)}`],
  );
  return "within" in bad ? slow(bad, labels, matchers) : failures(bad, labels, matchers);
}

/** Failures of other kinds and origins are neither good nor bad, and pauses are no ends. */
function failures(
  { kinds, origins }: Failures,
  labels: readonly string[],
  matchers: readonly string[],
): Counts {
  const [runs = ""] = prometheusNames("entelix.runs");
  const root = [`${prometheusLabel("entelix.root")}="true"`, ...matchers];
  const outcome = prometheusLabel("entelix.run.outcome");
  const all = origins.length === FAILURE_ORIGINS.length;
  // Only failed runs have a kind and an origin.
  const bad = [
    `${KIND}=~"${kinds.join("|")}"`,
    ...(all ? [] : [`${ORIGIN}=~"${origins.join("|")}"`]),
  ];
  const either = bad.map((matcher) => matcher.replace('=~"', '=~"|'));
  const ended = [`${outcome}=~"complete|refused|failed"`, ...either, ...root];
  const failed = [`${outcome}="failed"`, ...bad, ...root];
  return {
    runs: sum(labels, series(runs, ended)),
    bad: sum([...labels, KIND, ORIGIN], series(runs, failed)),
  };
}

function slow({ seconds }: Slow, labels: readonly string[], matchers: readonly string[]): Counts {
  const [buckets = "", , count = ""] = prometheusNames("entelix.runs.working_time");
  // Prometheus 3 writes whole numbers as 60.0.
  const le = `le=~"${String(seconds).replace(".", "\\\\.")}(\\\\.0)?"`;
  const runs = sum(labels, series(count, matchers));
  const fast = sum(labels, series(buckets, [le, ...matchers]));
  return { runs, bad: `clamp_min(\n${indented(`${runs}\n- ${fast}`)},\n  0\n)` };
}

/**
 * By how much counters grew in the last minute, summed. A series that was not there in the hour before is of a new
 * process, or of a failure that is the first of its kind: all of it counts. So it does where it fell. Where nothing at
 * all was read in the hour before, the counts are old, and what they grew by is not known.
 */
function sum(labels: readonly string[], selector: string): string {
  const now = `last_over_time(${selector}[1m])`;
  return [
    `sum by (${labels.join(", ")}) (`,
    `  ${now} - last_over_time(${selector}[1h] offset 1m) >= 0`,
    `  or (${now} and on () group (max_over_time(up{job="entelix"}[1h] offset 1m) > 0))`,
    ")",
  ].join("\n");
}

function series(metric: string, matchers: readonly string[]): string {
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(", ")}}`;
}

export function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}
