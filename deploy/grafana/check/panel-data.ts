import type { Dashboard, Panel, Target } from "./dashboard.ts";
import { durationSeconds } from "./duration-text.ts";
import { fillVariables } from "./fill-variables.ts";
import type { Prometheus, Series } from "./prometheus.ts";
import { type Choice, type Choices, queryText } from "./query-text.ts";

/** Seconds since 1970. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface Answer {
  readonly target: Target;
  readonly series: readonly Series[];
}

export interface PanelData {
  readonly answers: readonly Answer[];
  /** Seconds from one point to the next. */
  readonly step: number;
}

/** What Prometheus answers to each query of a panel, asked as Grafana asks. */
export async function fetchPanel(
  prometheus: Prometheus,
  panel: Panel,
  choices: Choices,
  { from, to }: TimeRange,
): Promise<PanelData> {
  const step = stepOf(panel, choices, to - from);
  const answers: Answer[] = [];
  for (const target of panel.targets) {
    const query = queryText(target.expr, choices, { from, to, step });
    // Grafana moves both ends to whole steps, so that bars stand still while time goes on.
    const series = target.instant
      ? await prometheus.instant(query, to)
      : await prometheus.range(query, floor(from, step), floor(to, step), step);
    answers.push({ target, series });
  }
  return { answers, step };
}

/**
 * What is chosen for each variable of a dashboard: the wanted value; else everything where that can be chosen; else the
 * first value there is.
 *
 * @throws RangeError for a variable that has no value in the time range
 */
export async function choose(
  prometheus: Prometheus,
  dashboard: Dashboard,
  wanted: ReadonlyMap<string, string>,
  { from, to }: TimeRange,
): Promise<Choices> {
  const choices = new Map<string, Choice>();
  for (const { allValue, name, query, type } of dashboard.variables) {
    const value = wanted.get(name);
    if (value !== undefined) choices.set(name, { kind: "one", value });
    else if (type !== "query") choices.set(name, { kind: "one", value: query });
    else if (allValue !== undefined) choices.set(name, { kind: "all", pattern: allValue });
    else {
      const { label, selector } = labelValues(query);
      const text = queryText(selector, choices, { from, to, step: to - from });
      const [first] = await prometheus.labelValues(label, text, from, to);
      if (first === undefined) throw new RangeError(`$${name}: ${text} has no ${label}`);
      choices.set(name, { kind: "one", value: first });
    }
  }
  return choices;
}

/** @throws RangeError for a variable's query that is no `label_values(selector, label)` */
export function labelValues(query: string): { label: string; selector: string } {
  const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
  if (selector === undefined || label === undefined) {
    throw new RangeError(`${query}: expected label_values(selector, label)`);
  }
  return { label, selector };
}

/** How many points a chart has room for. */
const MAX_POINTS = 600;

/** A chart's least step, or a longer one where the time range has too many of them. */
function stepOf(panel: Panel, choices: Choices, range: number): number {
  const interval = fillVariables(panel.interval || "15s", (name) => {
    const choice = choices.get(name);
    return choice?.kind === "one" ? choice.value : undefined;
  });
  const least = durationSeconds(interval);
  return least * Math.max(1, Math.ceil(range / MAX_POINTS / least));
}

function floor(time: number, step: number): number {
  return Math.floor(time / step) * step;
}
