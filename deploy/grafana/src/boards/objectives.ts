import { RECORDS } from "../../../slo/src/records.ts";
import type { Board, Section } from "../board.ts";
import { bars, lines } from "../charts.ts";
import { failedTraces, slowRuns } from "../destinations.ts";
import { rows } from "../figures.ts";
import { AGENT, FAILURE_KIND, FAILURE_ORIGIN, JOB, OBJECTIVE, TENANT } from "../labels.ts";
import { FAILURE_COLORS } from "../palette.ts";
import { max, orZero, quantile, STEP, sum } from "../queries.ts";
import { chosen } from "../scope.ts";
import {
  intervalVariable,
  objectiveVariable,
  serviceVariable,
  tenantVariable,
} from "../variables.ts";

/** What has a budget of its own; an objective has some of these labels. */
const BUDGET = [OBJECTIVE, JOB, AGENT, TENANT];
const ONE = 'objective="$objective"';
/** Few budgets of one objective have a tenant: "Tenant" narrows them. */
const LEGEND = "{{gen_ai_agent_name}} {{job}}";

const all = (record: string): string => max(BUDGET, chosen(record));
const one = (record: string): string => max([JOB, AGENT, TENANT], chosen(record, ONE));

/** Runs of the window, each in one minute's increase. */
const counted = (labels: readonly string[], record: string, ...matchers: readonly string[]) =>
  sum(labels, `sum_over_time(${chosen(record, ONE, ...matchers)}[${STEP}])`);

const budgets: Section = {
  title: "All objectives, now",
  lines: [
    {
      height: 9,
      panels: [
        rows({
          title: "Error budgets",
          description:
            "Of deploy/slo/objectives.yml. A burn rate of 1 uses the budget up in exactly 30 days. Both windows of an alert must be above its limit: 14.4 in an hour or 6 in six hours page, 1 in three days is a ticket. A remaining budget below 0 is used up.",
          unit: "short",
          labels: {
            [OBJECTIVE]: "Objective",
            [JOB]: "Service",
            [AGENT]: "Agent",
            [TENANT]: "Tenant",
          },
          values: [
            { expr: all(RECORDS.burnRate("1h")), header: "Burn rate, 1 h" },
            { expr: all(RECORDS.burnRate("6h")), header: "Burn rate, 6 h" },
            { expr: all(RECORDS.burnRate("3d")), header: "Burn rate, 3 d" },
            { expr: all(RECORDS.left), header: "Budget left", unit: "percentunit" },
            { expr: all(RECORDS.badRuns("30d")), header: "Bad runs, 30 d" },
            { expr: all(RECORDS.runs("30d")), header: "Runs, 30 d" },
          ],
        }),
      ],
    },
  ],
};

const burning: Section = {
  title: "One objective: $objective",
  lines: [
    {
      height: 8,
      panels: [
        lines({
          title: "Budget left",
          description:
            "Share of the error budget that the last 30 days have left. It rises when bad days leave the window.",
          unit: "percentunit",
          queries: [{ expr: one(RECORDS.left), legend: LEGEND }],
        }),
        lines({
          title: "Burn rate",
          description:
            "How many times faster than allowed the budget is used up: in the last hour and in the last six. The page's limits are 14.4 and 6.",
          unit: "short",
          queries: [
            { expr: one(RECORDS.burnRate("1h")), legend: `1 h: ${LEGEND}` },
            { expr: one(RECORDS.burnRate("6h")), legend: `6 h: ${LEGEND}` },
          ],
        }),
      ],
    },
    {
      height: 8,
      panels: [
        bars({
          title: "What burned it, by failure kind",
          description:
            "Bad runs of an objective of failures, by kind and origin. A click searches for their traces. Empty for an objective of working time.",
          unit: "short",
          queries: [
            {
              expr: orZero(
                counted([FAILURE_KIND, FAILURE_ORIGIN, JOB], RECORDS.badRuns("1m"), 'within=""'),
              ),
              legend: "{{entelix_failure_kind}} {{entelix_failure_origin}} {{job}}",
            },
          ],
          colors: FAILURE_COLORS,
          links: [failedTraces("series")],
        }),
        bars({
          title: "Runs that counted",
          description:
            "Good and bad runs of the objective. Pauses, cancelled runs and failures of other kinds are not here.",
          unit: "short",
          queries: [{ expr: counted([JOB], RECORDS.runs("1m")), legend: "{{job}}" }],
        }),
        lines({
          title: "Working time",
          description:
            "How long root runs worked, without waits for people: half of them, and 95 of 100, at most this long.",
          unit: "s",
          queries: [0.5, 0.95].map((share) => ({
            expr: quantile(
              share,
              [JOB, AGENT],
              chosen("entelix_runs_working_time_seconds_bucket"),
              STEP,
            ),
            legend: `${share * 100} of 100: {{gen_ai_agent_name}} {{job}}`,
          })),
          links: [slowRuns()],
        }),
      ],
    },
  ],
};

/** How much of the error budgets is left, and what burns them. */
export const objectives: Board = {
  key: "objectives",
  title: "Entelix objectives",
  description:
    "The error budgets of the objectives in deploy/slo/objectives.yml: what is left, how fast it burns, and what burned it.",
  variables: [serviceVariable(), tenantVariable(), objectiveVariable(), intervalVariable()],
  sections: [budgets, burning],
};
