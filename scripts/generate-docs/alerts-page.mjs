// The table and the runbooks of docs/alerts.md, from the annotations of the alert rules. The rest of the page is
// written by hand and stays.
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);
const RULES = "deploy/prometheus/rules/";
/** Above the other files, which follow by name: most readers come for a run that failed. */
const FIRST = "failures.yml";

/** @returns the page as it is, with its generated parts made anew. */
export function alertsPage() {
  const groups = readdirSync(new URL(RULES, root))
    .filter((file) => file.endsWith(".yml"))
    .sort((a, b) => Number(b === FIRST) - Number(a === FIRST) || (a < b ? -1 : 1))
    .flatMap((file) => parse(readFileSync(new URL(RULES + file, root), "utf8")).groups)
    .map(({ name, rules }) => ({ name, alerts: alertsOf(rules) }))
    .filter(({ alerts }) => alerts.length > 0);
  const page = readFileSync(new URL("docs/alerts.md", root), "utf8");
  return [
    ["table", table(groups)],
    ["runbooks", runbooks(groups)],
  ].reduce(put, page);
}

/** The alerts of a group in order; rules of one name (a page and a ticket of it) are one alert with several rows. */
function alertsOf(rules) {
  const alerts = new Map();
  for (const { alert, labels, annotations } of rules) {
    if (alert === undefined) continue;
    const [when, runbook] = ["when", "runbook"].map((key) => written(alert, annotations, key));
    const known = alerts.get(alert) ?? { name: alert, rows: new Set(), runbook };
    if (known.runbook !== runbook) throw new Error(`${alert}: expected one runbook, found two`);
    known.rows.add(`| [${alert}](#${alert.toLowerCase()}) | ${labels.severity} | ${when} |`);
    alerts.set(alert, known);
  }
  return [...alerts.values()];
}

function written(alert, annotations, key) {
  const text = annotations?.[key]?.trim() ?? "";
  if (text !== "" && !text.includes("{{")) return text;
  throw new Error(`${alert}: expected an annotation "${key}", a text without templates`);
}

function table(groups) {
  const rows = groups.flatMap(({ alerts }) => alerts.flatMap((alert) => [...alert.rows]));
  return ["| alert | severity | when |", "|---|---|---|", ...rows].join("\n");
}

function runbooks(groups) {
  return groups
    .flatMap(({ name, alerts }) => [
      `## Runbooks: ${name.replace(/^entelix-/, "")}`,
      ...alerts.map((alert) => `### ${alert.name}\n\n${alert.runbook}`),
    ])
    .join("\n\n");
}

/** Puts a text between its two marks. */
function put(page, [part, text]) {
  const [begin, end] = [`<!-- generated: ${part} -->\n`, `\n<!-- end: ${part} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`docs/alerts.md: expected ${begin.trim()} …${end}`);
  return `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`;
}
