import type { Board, Section } from "../board.ts";
import { bars, heat, lines } from "../charts.ts";
import {
  agentBoard,
  endedByTool,
  slowTraces,
  tenantBoard,
  toolErrorTraces,
} from "../destinations.ts";
import { figure, ranking, rows } from "../figures.ts";
import { AGENT, JOB, TENANT, TOOL_ERROR_KIND } from "../labels.ts";
import { jaegerLink, labelOf } from "../links.ts";
import { TOOL_ERROR_COLORS } from "../palette.ts";
import { grown, orZero, quantile, RANGE, ratio, STEP, series, sum } from "../queries.ts";
import { COMPLETE, chosen, EVERY_RUN, OF_SERVICE, OF_TOOL, runs } from "../scope.ts";
import { intervalVariable, serviceVariable, tenantVariable, toolVariable } from "../variables.ts";

/** The tool, for the Jaeger searches. */
const THIS_TOOL = `\${tool:percentencode}`;

const durations = series("gen_ai_execute_tool_duration_seconds_bucket", OF_SERVICE, OF_TOOL);

/** Ended calls. `error_type` is there only where the call failed. */
const calls = (...matchers: readonly string[]): string =>
  series("gen_ai_execute_tool_duration_seconds_count", OF_SERVICE, OF_TOOL, ...matchers);
const BROKEN = 'error_type!=""';

const failures = chosen("entelix_tool_failures_total", OF_TOOL);
const terminal = chosen("entelix_tool_terminal_failures_total", OF_TOOL);

const numbers: Section = {
  title: "$tool in the time range",
  lines: [
    {
      height: 4,
      panels: [
        figure({
          title: "Calls ended",
          description: "Calls of the tool that ended; all tenants together.",
          unit: "short",
          expr: sum([], grown(calls(), RANGE)),
          steps: ["text"],
        }),
        figure({
          title: "Calls failed",
          description:
            "Calls of the tool that failed, for the chosen tenants, also where the agent recovered from it.",
          unit: "short",
          expr: orZero(sum([], grown(failures, RANGE))),
          steps: ["green", [1, "orange"]],
        }),
        figure({
          title: "Failure ratio",
          description: "Failed calls to all calls that ended; all tenants together.",
          unit: "percentunit",
          expr: ratio(
            `(${orZero(sum([], grown(calls(BROKEN), RANGE)))})`,
            sum([], grown(calls(), RANGE)),
          ),
          steps: ["green", [0.05, "yellow"], [0.2, "red"]],
          decimals: 1,
        }),
        figure({
          title: "Duration, 95th percentile",
          description: "95 of 100 calls are faster; all tenants together.",
          unit: "s",
          expr: quantile(0.95, [], durations, RANGE),
          steps: ["text"],
          decimals: 2,
        }),
        figure({
          title: "Root runs it ended",
          description: "Root runs that failed with `tool_error_terminal` because of this tool.",
          unit: "short",
          expr: orZero(sum([], grown(terminal, RANGE))),
          steps: ["green", [1, "red"]],
        }),
      ],
      widths: [5, 5, 5, 5, 4],
    },
  ],
};

const broken: Section = {
  title: "Failures",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Failed calls by tool error kind",
          description:
            "What the tool said: `auth` wants somebody at once, `quota` and `rate_limit` a look at the limits; `validation` is mostly the model's arguments.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TOOL_ERROR_KIND], grown(failures, STEP)),
              legend: "{{entelix_tool_error_kind}} {{job}}",
            },
          ],
          colors: TOOL_ERROR_COLORS,
          links: [toolErrorTraces("series", THIS_TOOL)],
        }),
        bars({
          title: "Failed calls by tenant",
          description: "Whose calls failed. A click leads to the traces.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TENANT], grown(failures, STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [
            jaegerLink("This tenant's failed calls", "series", {
              tags: {
                "gen_ai.tool.name": THIS_TOOL,
                "entelix.tenant_id": labelOf("series", TENANT),
                "entelix.tool.outcome": "error",
              },
            }),
            tenantBoard("series"),
          ],
        }),
        bars({
          title: "Root runs it ended by tool error kind",
          description: "Root runs that failed because of this tool, each counted once.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TOOL_ERROR_KIND], grown(terminal, STEP)),
              legend: "{{entelix_tool_error_kind}} {{job}}",
            },
          ],
          colors: TOOL_ERROR_COLORS,
          links: [endedByTool("series", THIS_TOOL)],
        }),
      ],
    },
    {
      height: 8,
      widths: [8, 16],
      panels: [
        ranking({
          title: "Failure ratio by agent",
          description:
            "Failed calls to all calls that ended, by the agent that called; all tenants.",
          unit: "percentunit",
          query: {
            expr: ratio(
              `(${sum([AGENT], grown(calls(BROKEN), RANGE))} or 0 * ${sum([AGENT], grown(calls(), RANGE))})`,
              sum([AGENT], grown(calls(), RANGE)),
            ),
            legend: "{{gen_ai_agent_name}}",
          },
          max: 1,
          steps: ["green", [0.05, "yellow"], [0.2, "red"]],
          links: [agentBoard("series")],
        }),
        rows({
          title: "Failed calls by tenant, agent and kind",
          description: "Calls of the tool that failed in the time range.",
          unit: "short",
          labels: {
            [JOB]: "Service",
            [TENANT]: "Tenant",
            [AGENT]: "Agent",
            [TOOL_ERROR_KIND]: "Tool error kind",
          },
          values: [
            {
              expr: `${sum([JOB, TENANT, AGENT, TOOL_ERROR_KIND], grown(failures, RANGE))} > 0`,
              header: "Calls",
            },
          ],
          links: [toolErrorTraces("row", THIS_TOOL), agentBoard("row")],
        }),
      ],
    },
  ],
};

const degraded = chosen("entelix_runs_degraded_total", OF_TOOL);

/** The share of an agent's runs that completed without the tool. */
const degradedShare = (ago?: string): string =>
  ratio(
    sum([JOB, AGENT], grown(degraded, STEP, ago)),
    sum([JOB, AGENT], grown(runs(COMPLETE, EVERY_RUN), STEP, ago)),
  );

const without: Section = {
  title: "Runs that completed without $tool",
  lines: [
    {
      height: 8,
      widths: [16, 8],
      panels: [
        lines({
          title: "Degraded runs, beside the week before",
          description:
            "Share of the agent's completed runs whose last call of the tool had failed; nested runs count for their own agent.",
          unit: "percentunit",
          queries: [
            { expr: degradedShare(), legend: "{{gen_ai_agent_name}} {{job}}" },
            {
              expr: `(${degradedShare("1w")}) or 0 * (${degradedShare()})`,
              legend: "{{gen_ai_agent_name}} {{job}}, a week before",
            },
          ],
          links: [
            jaegerLink("This agent's failed calls of the tool", "series", {
              tags: {
                "gen_ai.tool.name": THIS_TOOL,
                "gen_ai.agent.name": labelOf("series", AGENT),
                "entelix.tool.outcome": "error",
              },
            }),
            agentBoard("series"),
          ],
        }),
        rows({
          title: "Degraded runs by tenant and agent",
          description: "Runs of the time range, for the chosen tenants.",
          unit: "short",
          labels: { [JOB]: "Service", [TENANT]: "Tenant", [AGENT]: "Agent" },
          values: [
            {
              expr: `${sum([JOB, TENANT, AGENT], grown(degraded, RANGE))} > 0`,
              header: "Runs",
            },
          ],
          links: [agentBoard("row")],
        }),
      ],
    },
  ],
};

const time: Section = {
  title: "Calls; all tenants together",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Calls ended by agent",
          description: "Calls of the tool that ended, by the agent that called.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, AGENT], grown(calls(), STEP)),
              legend: "{{gen_ai_agent_name}} {{job}}",
            },
          ],
          links: [
            jaegerLink("Traces of this agent with the tool", "series", {
              tags: {
                "gen_ai.tool.name": THIS_TOOL,
                "gen_ai.agent.name": labelOf("series", AGENT),
              },
            }),
            agentBoard("series"),
          ],
        }),
        heat({
          title: "Call duration",
          description: "Calls of the tool by duration, failed ones too.",
          unit: "s",
          axis: "duration",
          expr: sum(["le"], grown(durations, STEP)),
        }),
        lines({
          title: "Call duration, percentiles",
          description: "Half, 95 and 99 of 100 calls are faster.",
          unit: "s",
          queries: [0.5, 0.95, 0.99].map((share) => ({
            expr: quantile(share, [JOB], durations, STEP),
            legend: `p${share * 100} {{job}}`,
          })),
          links: [slowTraces(`execute_tool ${THIS_TOOL}`)],
        }),
      ],
    },
  ],
};

export const tool: Board = {
  key: "tool",
  title: "Entelix: one tool",
  description: "How often a tool is called, how it fails, for whom, and which runs it ended.",
  variables: [serviceVariable(), tenantVariable(), toolVariable(), intervalVariable()],
  sections: [numbers, broken, without, time],
};
