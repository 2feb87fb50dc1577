import type { Board, Section } from "../board.ts";
import { bars, lines } from "../charts.ts";
import {
  agentBoard,
  endedByTool,
  endedTraces,
  failedTraces,
  slowTraces,
  tenantBoard,
  tenantTraces,
  toolBoard,
} from "../destinations.ts";
import { figure, ranking, rows } from "../figures.ts";
import { AGENT, FAILURE_KIND, JOB, OUTCOME, TENANT, TOOL, TOOL_ERROR_KIND } from "../labels.ts";
import { jaegerLink, labelOf } from "../links.ts";
import { FAILURE_COLORS, OUTCOME_COLORS } from "../palette.ts";
import { grown, max, orZero, quantile, RANGE, ratio, STEP, series, sum } from "../queries.ts";
import {
  chosen,
  FAILED,
  NOT_PAUSED,
  OF_SERVICE,
  PAUSED,
  ROOT,
  runSpanDurations,
  runSpans,
  runs,
} from "../scope.ts";
import { intervalVariable, serviceVariable, tenantVariable } from "../variables.ts";

const failedIn = (window: string): string => grown(runs(ROOT, FAILED), window);
const endedIn = (window: string): string => grown(runs(ROOT, NOT_PAUSED), window);

const numbers: Section = {
  title: "In the time range",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Failed root runs",
          description:
            "Root runs that ended as failed. A failure that rose through nested runs is one failed root run. Pauses are not failures.",
          unit: "short",
          expr: sum([], failedIn(RANGE)),
          steps: ["green", [1, "red"]],
        }),
        figure({
          title: "Failure ratio",
          description:
            "Failed root runs to all root runs that ended. A pause is no end and is in neither number.",
          unit: "percentunit",
          expr: ratio(sum([], failedIn(RANGE)), sum([], endedIn(RANGE))),
          steps: ["green", [0.02, "yellow"], [0.1, "red"]],
          decimals: 1,
        }),
        figure({
          title: "Root runs ended",
          description: "Root runs that ended: complete, failed or abandoned.",
          unit: "short",
          expr: sum([], endedIn(RANGE)),
          steps: ["text"],
        }),
        figure({
          title: "Root runs paused",
          description:
            "Segments of root runs that ended in an interruption, such as a wait for a human's approval. Not failures.",
          unit: "short",
          expr: sum([], grown(runs(ROOT, PAUSED), RANGE)),
          steps: ["blue"],
        }),
        figure({
          title: "Approvals pending",
          description: "Root runs that wait for an approval, at the end of the time range.",
          unit: "short",
          expr: orZero(sum([], chosen("entelix_approvals_pending"))),
          steps: ["text", [1, "blue"]],
        }),
        figure({
          title: "Runs active",
          description: "Runs that are open, nested ones too, at the end of the time range.",
          unit: "short",
          expr: sum([], chosen("entelix_runs_active")),
          steps: ["text"],
        }),
      ],
    },
  ],
};

const failures: Section = {
  title: "Failures: root runs, each counted once",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Failed root runs by failure kind",
          description:
            "A click leads to the failed traces of that kind. `unclassified` means that the runtime sent something the classifier does not know.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, FAILURE_KIND], failedIn(STEP)),
              legend: "{{entelix_failure_kind}} {{job}}",
            },
          ],
          colors: FAILURE_COLORS,
          links: [failedTraces("series")],
        }),
        bars({
          title: "Failed root runs by tenant",
          description:
            "Who is hit. Tenants past the limit of the bridge share the name `_other`; the traces have the real name.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TENANT], failedIn(STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [tenantTraces("series", "failed"), tenantBoard("series")],
        }),
      ],
    },
    {
      height: 9,
      widths: [9, 6, 9],
      panels: [
        rows({
          title: "Failure kinds by tenant",
          description: "Failed root runs in the time range. A click leads to the traces.",
          unit: "short",
          labels: { [JOB]: "Service", [TENANT]: "Tenant", [FAILURE_KIND]: "Failure kind" },
          values: [
            {
              expr: `${sum([JOB, TENANT, FAILURE_KIND], failedIn(RANGE))} > 0`,
              header: "Root runs",
            },
          ],
          links: [
            failedTraces("row", { "entelix.tenant_id": labelOf("row", TENANT) }),
            tenantBoard("row"),
          ],
        }),
        ranking({
          title: "Failure ratio by agent",
          description:
            "Failed root runs of an agent to its root runs that ended, in the time range.",
          unit: "percentunit",
          query: {
            expr: ratio(sum([AGENT], failedIn(RANGE)), sum([AGENT], endedIn(RANGE))),
            legend: "{{gen_ai_agent_name}}",
          },
          max: 1,
          steps: ["green", [0.02, "yellow"], [0.1, "red"]],
          links: [agentBoard("series")],
        }),
        rows({
          title: "Tools that ended a run",
          description:
            "Root runs that failed with `tool_error_terminal`, by the tool that ended them and why. Errors that the agent recovered from are on the tool's dashboard.",
          unit: "short",
          labels: { [JOB]: "Service", [TOOL]: "Tool", [TOOL_ERROR_KIND]: "Tool error kind" },
          values: [
            {
              expr: `${sum(
                [JOB, TOOL, TOOL_ERROR_KIND],
                grown(chosen("entelix_tool_terminal_failures_total"), RANGE),
              )} > 0`,
              header: "Root runs",
            },
          ],
          links: [endedByTool("row", labelOf("row", TOOL)), toolBoard("row")],
        }),
      ],
    },
  ],
};

const allRuns: Section = {
  title: "Runs",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Root runs by outcome",
          description:
            "How root runs, or the segments of paused ones, ended. `abandoned`: nothing was heard of the run for too long, or its process stopped.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, OUTCOME], grown(runs(ROOT), STEP)),
              legend: "{{entelix_run_outcome}} {{job}}",
            },
          ],
          colors: OUTCOME_COLORS,
          links: [endedTraces("series")],
        }),
        lines({
          title: "Runs active by agent",
          description: "Runs that are open, nested ones too.",
          unit: "short",
          queries: [
            { expr: sum([AGENT], chosen("entelix_runs_active")), legend: "{{gen_ai_agent_name}}" },
          ],
          links: [agentBoard("series")],
        }),
        lines({
          title: "Run duration by agent, 95th percentile",
          description:
            "95 of 100 runs of an agent are faster. Nested runs count for their own agent; all tenants together.",
          unit: "s",
          queries: [
            {
              expr: quantile(
                0.95,
                [JOB, AGENT],
                series("gen_ai_invoke_agent_duration_seconds_bucket", OF_SERVICE),
                STEP,
              ),
              legend: "{{gen_ai_agent_name}} {{job}}",
            },
          ],
          links: [slowTraces(`invoke_agent ${labelOf("series", AGENT)}`), agentBoard("series")],
        }),
      ],
    },
  ],
};

const pauses: Section = {
  title: "Pauses: not failures",
  lines: [
    {
      height: 7,
      panels: [
        bars({
          title: "Root runs paused by tenant",
          description: "Segments of root runs that ended in an interruption.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TENANT], grown(runs(ROOT, PAUSED), STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [tenantTraces("series", "interrupted"), tenantBoard("series")],
        }),
        lines({
          title: "Approvals pending by agent",
          description: "Root runs that wait for an approval.",
          unit: "short",
          queries: [
            {
              expr: sum([AGENT], chosen("entelix_approvals_pending")),
              legend: "{{gen_ai_agent_name}}",
            },
          ],
          links: [agentBoard("series")],
        }),
        lines({
          title: "Longest wait for an approval by tenant",
          description: "Age of the oldest approval that is still pending; 0 where none is.",
          unit: "s",
          queries: [
            {
              expr: max([TENANT], chosen("entelix_approvals_oldest_seconds")),
              legend: "{{entelix_tenant_id}}",
            },
          ],
          links: [tenantBoard("series")],
        }),
      ],
    },
  ],
};

const fromSpans: Section = {
  title: "Counted by the collector, from spans alone",
  lines: [
    {
      height: 7,
      panels: [
        bars({
          title: "Failed root runs by failure kind, from spans",
          description:
            "What shows a service that sends spans but no metrics. Where an agent samples at the start of a run, only the sampled ones count here.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, FAILURE_KIND], grown(runSpans(ROOT, FAILED), STEP)),
              legend: "{{entelix_failure_kind}} {{job}}",
            },
          ],
          colors: FAILURE_COLORS,
          links: [failedTraces("series")],
        }),
        bars({
          title: "Failed root runs by agent, from spans",
          description: "As the panel beside it, by the agent of the root run.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, AGENT], grown(runSpans(ROOT, FAILED), STEP)),
              legend: "{{gen_ai_agent_name}} {{job}}",
            },
          ],
          links: [
            jaegerLink("This agent's failed traces", "series", {
              tags: {
                "gen_ai.agent.name": labelOf("series", AGENT),
                "entelix.run.outcome": "failed",
              },
            }),
          ],
        }),
        lines({
          title: "Run duration, p95, with sample traces",
          description:
            "Root runs, from their spans. Each dot is one run, and leads to its trace; the runs that the collector did not keep have none.",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, [JOB, AGENT], runSpanDurations(ROOT), STEP),
              legend: "{{gen_ai_agent_name}} {{job}}",
              exemplars: true,
            },
          ],
          links: [slowTraces(`invoke_agent ${labelOf("series", AGENT)}`), agentBoard("series")],
        }),
      ],
    },
  ],
};

/** Where to look first: what failed, for whom, and what waits. */
export const overview: Board = {
  key: "overview",
  title: "Entelix: overview",
  description: "Failures by kind and tenant, how runs end, and who waits for an approval.",
  variables: [serviceVariable(), tenantVariable(), intervalVariable()],
  sections: [numbers, failures, allRuns, pauses, fromSpans],
};
