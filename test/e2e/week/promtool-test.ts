import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type EndedProgram, runProgram } from "../support/installed-program.ts";
import { MAY_FIRE, MUST_FIRE } from "./reports.ts";
import type { RuleSet } from "./rule-sets.ts";
import { selectorsOf } from "./series-book.ts";
import type { Week } from "./week.ts";

const ON = "on (alertname, job, entelix_tenant_id, gen_ai_tool_name)";
const LABELS =
  "alertname, severity, job, entelix_tenant_id, gen_ai_agent_name, gen_ai_tool_name, entelix_failure_fingerprint";
const FIRING = 'ALERTS{alertstate="firing"}';

interface RuleRun {
  readonly promtool: string;
  readonly folder: string;
  readonly rules: RuleSet;
  readonly week: Week;
  /** The first minute that the rules see. */
  readonly from: number;
  /** How many of the last minutes are judged. */
  readonly judged: number;
  /** Labels of alerts that must fire though the traffic reports nothing of their kind. Default: none. */
  readonly expected?: readonly string[];
}

/**
 * Records of what the test looks for, as rules behind all others: to ask for a week of alerts afterwards is more than
 * promtool loads for a query.
 */
const RECORDS = {
  name: "week",
  rules: [
    // Alerts for which there is no reason.
    { record: "week:unexplained", expr: `${FIRING} unless ${ON} ${MAY_FIRE}` },
    // Failures that no alert reports.
    { record: "week:unreported", expr: `${MUST_FIRE} unless ${ON} ${FIRING}` },
  ],
};

/** Runs rules over the series of a week. Whatever fires for no reason is in what promtool says. */
export async function runRules(run: RuleRun): Promise<EndedProgram> {
  const { folder, from, judged, promtool, rules, week } = run;
  const path = join(folder, `${rules.name}.yml`);
  const groups = [...rules.groups, RECORDS];
  await writeFile(join(folder, `${rules.name}-rules.yml`), stringify({ groups }));
  const file = await open(path, "w");
  await file.write(`rule_files: [${rules.name}-rules.yml]\nevaluation_interval: ${rules.every}m\n`);
  await file.write(`group_eval_order: ${JSON.stringify(groups.map(({ name }) => name))}\n`);
  await file.write("tests:\n  - interval: 1m\n    input_series:\n");
  const ofRules = week.book.inputSeries(selectorsOf(rules.queries), from);
  for (const [series, values] of [...ofRules, ...week.reports.inputSeries(from)]) {
    await file.write(`      - series: '${series}'\n        values: '${values}'\n`);
  }
  await file.write("    promql_expr_test:\n");
  const own = `alertname=~"${rules.alerts.join("|")}"`;
  const expected = (run.expected ?? []).map((labels) => ({ labels, value: 1 }));
  for (const { series, samples } of [
    { series: "week:unexplained", samples: expected },
    { series: `week:unreported{${own}}`, samples: [] },
  ]) {
    const expr = `group by (${LABELS}) (last_over_time(${series}[${judged}m]))`;
    const at = week.minutes - from - rules.every;
    await file.write(`      - expr: '${expr}'\n        eval_time: ${at}m\n`);
    await file.write(`        exp_samples: ${JSON.stringify(samples)}\n`);
  }
  await file.close();
  return runProgram(promtool, ["test", "rules", path]);
}
