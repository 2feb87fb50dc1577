// Asks every query of every dashboard from a Prometheus: npm run dashboards:check -- --prometheus URL [--hours 1]
// [--agent NAME] [--tool NAME] [FILE …]. Exits 1 where a query has no data or a label is missing.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readDashboard } from "./dashboard.ts";
import { choose, fetchPanel } from "./panel-data.ts";
import { panelProblems } from "./panel-problems.ts";
import { Prometheus } from "./prometheus.ts";

const FOLDER = "deploy/grafana/dashboards";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    prometheus: { type: "string", default: "http://127.0.0.1:9090" },
    hours: { type: "string", default: "1" },
    agent: { type: "string" },
    tool: { type: "string" },
  },
});

const hours = Number(values.hours);
if (!(hours > 0)) throw new RangeError(`--hours: expected a number above 0, got ${values.hours}`);
const to = Math.floor(Date.now() / 1000);
const range = { from: to - hours * 3600, to };
const prometheus = new Prometheus(values.prometheus);
const wanted = new Map(
  Object.entries({ agent: values.agent, tool: values.tool }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  ),
);
const files =
  positionals.length > 0
    ? positionals
    : readdirSync(FOLDER)
        .filter((name) => name.endsWith(".json"))
        .map((name) => join(FOLDER, name));

let queries = 0;
const problems: string[] = [];
for (const file of files) {
  const dashboard = readDashboard(readFileSync(file, "utf8"));
  try {
    const choices = await choose(prometheus, dashboard, wanted, range);
    for (const panel of dashboard.panels) {
      const data = await fetchPanel(prometheus, panel, choices, range);
      queries += data.answers.length;
      problems.push(...panelProblems(panel, data).map((each) => `${dashboard.title}: ${each}`));
    }
  } catch (error) {
    // A variable without a value: the other dashboards may be whole.
    if (!(error instanceof RangeError)) throw error;
    problems.push(`${dashboard.title}: ${error.message}`);
  }
}
for (const problem of problems) console.error(problem);
console.log(`${queries} queries of ${files.length} dashboards, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
