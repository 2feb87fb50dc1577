// The table of docs/alerts.md and the pages of runbooks, from the annotations of the alert rules. The rest of alerts.md
// is written by hand and stays.
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);
const RULES = "deploy/prometheus/rules/";
/** Above the other files, which follow by name: most readers come for a run that failed. */
const FIRST = "failures.yml";

/** The pages of runbooks, and their titles. `runbook_url` of an alert names its page. */
const RUNBOOKS = {
  "alerts-failures": "Runbooks: failed runs",
  "alerts-agents": "Runbooks: stalled, degraded and expensive agents",
  "alerts-services": "Runbooks: bridge, collector and services",
};

/** Names of the pages. */
export const ALERT_PAGES = ["alerts", ...Object.keys(RUNBOOKS)];

/** @returns one of {@link ALERT_PAGES} as it is, with its generated parts made anew. */
export function alertsPage(name) {
  const groups = readdirSync(new URL(RULES, root))
    .filter((file) => file.endsWith(".yml"))
    .sort((a, b) => Number(b === FIRST) - Number(a === FIRST) || (a < b ? -1 : 1))
    .flatMap((file) => parse(readFileSync(new URL(RULES + file, root), "utf8")).groups)
    .map(({ name, rules }) => ({ name, alerts: alertsOf(rules) }))
    .filter(({ alerts }) => alerts.length > 0);
  const pages = new Map(groups.flatMap(({ alerts }) => alerts.map((alert) => [alert.name, alert])));
  if (name !== "alerts") return runbooks(name, groups, pages);
  return withTable(readFileSync(new URL("docs/alerts.md", root), "utf8"), table(groups));
}

/** The alerts of a group in order; rules of one name (a page and a ticket of it) are one alert with several rows. */
function alertsOf(rules) {
  const alerts = new Map();
  for (const { alert, labels, annotations } of rules) {
    if (alert === undefined) continue;
    const [when, runbook] = ["when", "runbook"].map((key) => written(alert, annotations, key));
    const { page, target } = targetOf(alert, annotations);
    const known = alerts.get(alert) ?? { name: alert, rows: new Set(), runbook, page };
    if (known.runbook !== runbook) throw new Error(`${alert}: expected one runbook, found two`);
    known.rows.add(`| [${alert}](${target}) | ${labels.severity} | ${when} |`);
    alerts.set(alert, known);
  }
  return [...alerts.values()];
}

function written(alert, annotations, key) {
  const text = annotations?.[key]?.trim() ?? "";
  if (text !== "" && !text.includes("{{")) return text;
  throw new Error(`${alert}: expected an annotation "${key}", a text without templates`);
}

/** The page of an alert's runbook, and the link to it from the other pages. */
function targetOf(alert, annotations) {
  const [, target, page] = /^docs\/(([\w-]+)\.md#.*)$/.exec(annotations?.runbook_url ?? "") ?? [];
  if (Object.hasOwn(RUNBOOKS, page ?? "")) return { page, target };
  throw new Error(`${alert}: expected a runbook_url of ${Object.keys(RUNBOOKS).join(", ")}`);
}

function table(groups) {
  const rows = groups.flatMap(({ alerts }) => alerts.flatMap((alert) => [...alert.rows]));
  return ["| alert | severity | when |", "|---|---|---|", ...rows].join("\n");
}

function runbooks(name, groups, pages) {
  /** A link to an alert of another page names that page. */
  const linked = (runbook) =>
    runbook.replaceAll(/\[(\w+)\]\((#\w+)\)/g, (link, alert, anchor) => {
      const { page } = pages.get(alert) ?? {};
      if (page === undefined) throw new Error(`${name}: no alert ${alert}`);
      return page === name ? link : `[${alert}](${page}.md${anchor})`;
    });
  const sections = groups
    .map((group) => ({ ...group, alerts: group.alerts.filter(({ page }) => page === name) }))
    .filter(({ alerts }) => alerts.length > 0)
    .flatMap((group) => [
      `## ${titleOf(group.name)}`,
      ...group.alerts.map(({ name: alert, runbook }) => `### ${alert}\n\n${linked(runbook)}`),
    ]);
  return [
    `<!-- Generated from ${RULES}*.yml: change the annotations there, then npm run docs. -->`,
    `# ${RUNBOOKS[name]}`,
    "[All alerts](alerts.md) has a table of them, how failures are counted, routing, silencing and tuning.",
    ...sections,
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

function titleOf(group) {
  const title = group.replace(/^entelix-/, "");
  return title[0].toUpperCase() + title.slice(1);
}

/** Puts the table between its marks. */
function withTable(page, text) {
  const [begin, end] = ["<!-- generated: table -->\n", "\n<!-- end: table -->"];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`docs/alerts.md: expected ${begin.trim()} …${end}`);
  return `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`;
}
