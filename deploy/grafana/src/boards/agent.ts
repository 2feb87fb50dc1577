import type { Board, Section } from "../board.ts";
import { bars, heat, lines } from "../charts.ts";
import {
  endedTraces,
  failedTraces,
  slowTraces,
  tenantBoard,
  toolBoard,
  toolErrorTraces,
} from "../destinations.ts";
import { figure, rows } from "../figures.ts";
import {
  FAILURE_KIND,
  JOB,
  LOOP,
  OUTCOME,
  TENANT,
  TOKEN_TYPE,
  TOOL,
  TOOL_ERROR_KIND,
} from "../labels.ts";
import { labelOf } from "../links.ts";
import { FAILURE_COLORS, OUTCOME_COLORS, TOKEN_COLORS } from "../palette.ts";
import { grown, orZero, quantile, RANGE, ratio, STEP, series, sum } from "../queries.ts";
import {
  COMPLETE,
  chosen,
  EVERY_RUN,
  FAILED,
  NESTED,
  NOT_PAUSED,
  OF_AGENT,
  OF_SERVICE,
  PAUSED,
  ROOT,
  runSpanDurations,
  runs,
} from "../scope.ts";
import { agentVariable, intervalVariable, serviceVariable, tenantVariable } from "../variables.ts";

/** The agent, as an attribute of its run spans, for the Jaeger searches. */
const THIS_AGENT = { "gen_ai.agent.name": `\${agent:percentencode}` };

const durations = series("gen_ai_invoke_agent_duration_seconds_bucket", OF_SERVICE, OF_AGENT);
const toolDurations = series("gen_ai_execute_tool_duration_seconds_bucket", OF_SERVICE, OF_AGENT);
const toolCalls = series("gen_ai_invoke_agent_tool_calls_bucket", OF_SERVICE, OF_AGENT);

const looping = chosen("entelix_runs_looping_total", OF_AGENT);

const failedIn = (window: string): string => grown(runs(OF_AGENT, ROOT, FAILED), window);
const endedIn = (window: string): string => grown(runs(OF_AGENT, ROOT, NOT_PAUSED), window);

const numbers: Section = {
  title: "$agent in the time range",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Root runs ended",
          description: "Root runs of the agent that ended: complete, failed or abandoned.",
          unit: "short",
          expr: sum([], endedIn(RANGE)),
          steps: ["text"],
        }),
        figure({
          title: "Failed root runs",
          description: "Root runs of the agent that ended as failed.",
          unit: "short",
          expr: sum([], failedIn(RANGE)),
          steps: ["green", [1, "red"]],
        }),
        figure({
          title: "Failure ratio",
          description:
            "Failed root runs to all root runs that ended. Pauses are in neither number.",
          unit: "percentunit",
          expr: ratio(sum([], failedIn(RANGE)), sum([], endedIn(RANGE))),
          steps: ["green", [0.02, "yellow"], [0.1, "red"]],
          decimals: 1,
        }),
        figure({
          title: "Duration, 95th percentile",
          description: "95 of 100 runs of the agent are faster; all tenants together.",
          unit: "s",
          expr: quantile(0.95, [], durations, RANGE),
          steps: ["text"],
          decimals: 1,
        }),
        figure({
          title: "Root runs paused",
          description: "Segments of the agent's root runs that ended in an interruption.",
          unit: "short",
          expr: sum([], grown(runs(OF_AGENT, ROOT, PAUSED), RANGE)),
          steps: ["blue"],
        }),
        figure({
          title: "Cost of a run",
          description: "Cost of the agent's own model calls, divided by its runs that completed.",
          unit: "currencyUSD",
          expr: ratio(
            sum([], grown(chosen("entelix_cost_total", OF_AGENT), RANGE)),
            sum([], grown(runs(OF_AGENT, EVERY_RUN, COMPLETE), RANGE)),
          ),
          steps: ["text"],
          decimals: 4,
        }),
      ],
    },
  ],
};

const ends: Section = {
  title: "How its runs end",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Root runs by outcome",
          description: "Root runs of the agent, or the segments of paused ones.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, OUTCOME], grown(runs(OF_AGENT, ROOT), STEP)),
              legend: "{{entelix_run_outcome}} {{job}}",
            },
          ],
          colors: OUTCOME_COLORS,
          links: [endedTraces("series", THIS_AGENT)],
        }),
        bars({
          title: "Failed root runs by failure kind",
          description: "A click leads to the failed traces of that kind.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, FAILURE_KIND], failedIn(STEP)),
              legend: "{{entelix_failure_kind}} {{job}}",
            },
          ],
          colors: FAILURE_COLORS,
          links: [failedTraces("series", THIS_AGENT)],
        }),
        bars({
          title: "Nested runs by outcome",
          description:
            "Runs of the agent that another run dispatched. A failure here may have been recovered from, or is the same failure as that of the root run.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, OUTCOME], grown(runs(OF_AGENT, NESTED), STEP)),
              legend: "{{entelix_run_outcome}} {{job}}",
            },
          ],
          colors: OUTCOME_COLORS,
          links: [endedTraces("series", THIS_AGENT)],
        }),
      ],
    },
  ],
};

const time: Section = {
  title: "How long they take, and what they do; all tenants together",
  lines: [
    {
      height: 8,
      panels: [
        heat({
          title: "Run duration",
          description: "Runs of the agent by duration, root and nested, a paused run by segment.",
          unit: "s",
          axis: "duration",
          expr: sum(["le"], grown(durations, STEP)),
        }),
        lines({
          title: "Run duration, percentiles",
          description: "Half, 95 and 99 of 100 runs of the agent are faster.",
          unit: "s",
          queries: [0.5, 0.95, 0.99].map((share) => ({
            expr: quantile(share, [JOB], durations, STEP),
            legend: `p${share * 100} {{job}}`,
          })),
          links: [slowTraces(`invoke_agent \${agent:percentencode}`)],
        }),
        heat({
          title: "Tool calls of a run",
          description: "Runs of the agent by how many tool calls they made themselves.",
          unit: "short",
          axis: "tool calls",
          expr: sum(["le"], grown(toolCalls, STEP)),
        }),
      ],
    },
    {
      height: 8,
      panels: [
        lines({
          title: "Root run duration, p95, with sample traces",
          description:
            "From the spans of the chosen tenants. Each dot is one run, and leads to its trace.",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, [JOB], runSpanDurations(OF_AGENT, ROOT), STEP),
              legend: "{{job}}",
              exemplars: true,
            },
          ],
          links: [slowTraces(`invoke_agent \${agent:percentencode}`)],
        }),
        lines({
          title: "Failed root run duration, p95, with sample traces",
          description:
            "As beside, of the runs that failed, by failure kind. Each dot is one of them, and leads to its trace.",
          unit: "s",
          queries: [
            {
              expr: quantile(
                0.95,
                [JOB, FAILURE_KIND],
                runSpanDurations(OF_AGENT, ROOT, FAILED),
                STEP,
              ),
              legend: "{{entelix_failure_kind}} {{job}}",
              exemplars: true,
            },
          ],
          links: [failedTraces("series", THIS_AGENT)],
        }),
      ],
    },
    {
      height: 8,
      widths: [10, 7, 7],
      panels: [
        lines({
          title: "Tool call duration by tool, 95th percentile",
          description: "95 of 100 calls of the tool by this agent are faster.",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, [JOB, TOOL], toolDurations, STEP),
              legend: "{{gen_ai_tool_name}} {{job}}",
            },
          ],
          links: [slowTraces(`execute_tool ${labelOf("series", TOOL)}`), toolBoard("series")],
        }),
        rows({
          title: "Failed tool calls",
          description:
            "Tool calls of the agent that failed, also where it recovered from it. Pauses are not failures.",
          unit: "short",
          labels: { [JOB]: "Service", [TOOL]: "Tool", [TOOL_ERROR_KIND]: "Tool error kind" },
          values: [
            {
              expr: `${sum(
                [JOB, TOOL, TOOL_ERROR_KIND],
                grown(chosen("entelix_tool_failures_total", OF_AGENT), RANGE),
              )} > 0`,
              header: "Calls",
            },
          ],
          links: [toolErrorTraces("row", labelOf("row", TOOL)), toolBoard("row")],
        }),
        rows({
          title: "Loops of tool calls",
          description:
            "Runs of the agent that were found to be in a loop in the time range, also while they are open.",
          unit: "short",
          labels: { [JOB]: "Service", [TOOL]: "Tool", [LOOP]: "Shape" },
          values: [
            { expr: `${sum([JOB, TOOL, LOOP], grown(looping, RANGE))} > 0`, header: "Runs" },
          ],
          links: [toolBoard("row")],
        }),
      ],
    },
  ],
};

const usage: Section = {
  title: "For whom, and at what cost",
  lines: [
    {
      height: 8,
      widths: [8, 8, 8],
      panels: [
        rows({
          title: "Root runs by tenant",
          description:
            "Root runs of the agent in the time range that ended, and those that failed.",
          unit: "short",
          labels: { [TENANT]: "Tenant" },
          values: [
            { expr: sum([TENANT], endedIn(RANGE)), header: "Ended" },
            { expr: sum([TENANT], failedIn(RANGE)), header: "Failed" },
          ],
          links: [tenantBoard("row")],
        }),
        bars({
          title: "Tokens",
          description:
            "Tokens of the agent's own model calls. Where calls report none: of its root runs, their nested runs included.",
          unit: "short",
          queries: [
            {
              expr: sum([TOKEN_TYPE], grown(chosen("entelix_tokens_total", OF_AGENT), STEP)),
              legend: "{{gen_ai_token_type}}",
            },
          ],
          colors: TOKEN_COLORS,
        }),
        lines({
          title: "Runs active and approvals pending",
          description: "Open runs of the agent, and root runs of it that wait for an approval.",
          unit: "short",
          queries: [
            { expr: orZero(sum([], chosen("entelix_runs_active", OF_AGENT))), legend: "active" },
            {
              expr: orZero(sum([], chosen("entelix_approvals_pending", OF_AGENT))),
              legend: "waiting",
            },
          ],
          colors: { active: "green", waiting: "blue" },
        }),
      ],
    },
  ],
};

export const agent: Board = {
  key: "agent",
  title: "Entelix: one agent",
  description: "How an agent's runs end, how long they take, what its tools do, what it costs.",
  variables: [serviceVariable(), tenantVariable(), agentVariable(), intervalVariable()],
  sections: [numbers, ends, time, usage],
};
