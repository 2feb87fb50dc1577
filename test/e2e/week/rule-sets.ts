import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { PROMETHEUS } from "../../deploy/alert-files.ts";
import { queryNames } from "../../deploy/alert-names.ts";
import { parseDuration } from "../support/duration.ts";
import { list, optionalText, text } from "../support/json-shape.ts";

/** A rule as its file has it. */
interface Rule {
  readonly group: string;
  readonly record: string | undefined;
  readonly alert: string | undefined;
  readonly expr: string;
  readonly given: unknown;
}

/** Some of the shipped rules, with all that they read, as one file of rules. */
export interface RuleSet {
  readonly name: string;
  readonly groups: readonly { readonly name: string; readonly rules: readonly unknown[] }[];
  readonly queries: readonly string[];
  readonly alerts: readonly string[];
  /** Minutes from one evaluation to the next. */
  readonly every: number;
  /** How far back they look, in minutes. */
  readonly lookback: number;
}

const DAY = 24 * 60;
/** Every window of the rules is longer. */
const USUAL_EVERY = 3;
const FOLDER = join(PROMETHEUS, "rules");

const RULES: readonly Rule[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".yml"))
  .toSorted()
  .flatMap((name) => list(parse(readFileSync(join(FOLDER, name), "utf8")), "groups"))
  .flatMap((group) =>
    list(group, "rules").map((rule) => ({
      group: text(group, "name"),
      record: optionalText(rule, "record"),
      alert: optionalText(rule, "alert"),
      expr: text(rule, "expr"),
      given: rule,
    })),
  );

/**
 * All rules, in sets that are evaluated alike, since each evaluation costs the same: those that look at most a day back
 * are not evaluated in the week that is history, and every minute only those are that add up what they recorded.
 */
export function ruleSets(): readonly RuleSet[] {
  const sets = new Map<string, Rule[]>();
  for (const alert of RULES.filter(({ record }) => record === undefined)) {
    const rules = needed([alert]);
    const days = Math.ceil(Math.max(...rules.map(lookback)) / DAY);
    const every = everyOf(rules);
    const name = every === 1 ? "each-minute" : days > 1 ? "weeks" : "days";
    sets.set(name, [...(sets.get(name) ?? []), alert]);
  }
  return [...sets].map(([name, alerts]) => setOf(name, alerts));
}

function setOf(name: string, alerts: readonly Rule[]): RuleSet {
  const rules = needed(alerts);
  const groups = [...new Set(rules.map(({ group }) => group))].map((group) => ({
    name: group,
    rules: rules.filter((rule) => rule.group === group).map(({ given }) => given),
  }));
  return {
    name,
    groups,
    queries: rules.map(({ expr }) => expr),
    alerts: alerts.flatMap(({ alert }) => alert ?? []),
    every: everyOf(rules),
    lookback: Math.max(...rules.map(lookback)),
  };
}

function everyOf(rules: readonly Rule[]): number {
  return rules.some(({ expr }) => /sum_over_time\(entelix:/.test(expr)) ? 1 : USUAL_EVERY;
}

/** The rules and every record that they read, in the order of the files. */
function needed(rules: readonly Rule[]): readonly Rule[] {
  const found = new Set<Rule>();
  const add = (rule: Rule) => {
    if (found.has(rule)) return;
    found.add(rule);
    const metrics = queryNames(rule.expr).selectors.map(({ metric }) => metric);
    for (const other of RULES) if (other.record && metrics.includes(other.record)) add(other);
  };
  for (const rule of rules) add(rule);
  return RULES.filter((rule) => found.has(rule));
}

/** The longest window and the longest offset of a query, in minutes. */
function lookback({ expr }: Rule): number {
  const longest = (pattern: RegExp) =>
    Math.max(
      0,
      ...[...expr.matchAll(pattern)].map(([, duration = ""]) => {
        const ms = parseDuration(duration);
        if (ms === undefined) throw new Error(`${expr}: expected durations, got ${duration}`);
        return ms / 60_000;
      }),
    );
  return longest(/\[(\w+)(?::\w*)?\]/g) + longest(/\boffset (\w+)/g);
}
