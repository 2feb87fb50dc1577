import type { Board, Section } from "../board.ts";
import { bars, lines } from "../charts.ts";
import { agentBoard, tenantBoard, tenantTraces } from "../destinations.ts";
import { figure, rows } from "../figures.ts";
import { AGENT, JOB, TENANT, TOKEN_TYPE } from "../labels.ts";
import { TOKEN_COLORS } from "../palette.ts";
import { grown, RANGE, ratio, STEP, sum } from "../queries.ts";
import { COMPLETE, chosen, EVERY_RUN, ROOT, runs } from "../scope.ts";
import { intervalVariable, serviceVariable, tenantVariable } from "../variables.ts";

const cost = chosen("entelix_cost_total");
const tokens = (...matchers: readonly string[]): string =>
  chosen("entelix_tokens_total", ...matchers);
const INPUT = 'gen_ai_token_type="input"';
const OUTPUT = 'gen_ai_token_type="output"';

/** What the others spent was spent for these. */
const reported = runs(ROOT, COMPLETE);
/** Cost and tokens are those of the agent that called its model. */
const reportedByAgent = runs(EVERY_RUN, COMPLETE);

const numbers: Section = {
  title: "In the time range",
  lines: [
    {
      height: 4,
      widths: [5, 5, 5, 5, 4],
      panels: [
        figure({
          title: "Cost",
          description:
            "What runs spent, by what their model calls reported. Where calls report nothing: what root runs reported when they completed, their nested runs included. Cost that nobody knows is not here.",
          unit: "currencyUSD",
          expr: sum([], grown(cost, RANGE)),
          steps: ["text"],
          decimals: 2,
        }),
        figure({
          title: "Cost of a root run",
          description:
            "Cost divided by the root runs that completed. What other runs spent is in it.",
          unit: "currencyUSD",
          expr: ratio(sum([], grown(cost, RANGE)), sum([], grown(reported, RANGE))),
          steps: ["text"],
          decimals: 4,
        }),
        figure({
          title: "Input tokens",
          description: "Tokens that went into models.",
          unit: "short",
          expr: sum([], grown(tokens(INPUT), RANGE)),
          steps: ["blue"],
          decimals: 1,
        }),
        figure({
          title: "Output tokens",
          description: "Tokens that came out of models.",
          unit: "short",
          expr: sum([], grown(tokens(OUTPUT), RANGE)),
          steps: ["orange"],
          decimals: 1,
        }),
        figure({
          title: "Tokens of a root run",
          description: "Input and output tokens divided by the root runs that completed.",
          unit: "short",
          expr: ratio(sum([], grown(tokens(), RANGE)), sum([], grown(reported, RANGE))),
          steps: ["text"],
          decimals: 1,
        }),
      ],
    },
  ],
};

const overTime: Section = {
  title: "Over time",
  lines: [
    {
      height: 8,
      panels: [
        bars({
          title: "Cost by tenant",
          description: "Tenants past the limit of the bridge share the name `_other`.",
          unit: "currencyUSD",
          queries: [
            {
              expr: sum([JOB, TENANT], grown(cost, STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [tenantTraces("series", "complete"), tenantBoard("series")],
        }).decimals(2),
        bars({
          title: "Cost by agent",
          description:
            "By the agent that called its model. Where calls report nothing, by the agent of the root run.",
          unit: "currencyUSD",
          queries: [{ expr: sum([AGENT], grown(cost, STEP)), legend: "{{gen_ai_agent_name}}" }],
          links: [agentBoard("series")],
        }).decimals(2),
      ],
    },
    {
      height: 8,
      panels: [
        bars({
          title: "Tokens by type",
          description: "Input and output tokens of all runs.",
          unit: "short",
          queries: [
            { expr: sum([TOKEN_TYPE], grown(tokens(), STEP)), legend: "{{gen_ai_token_type}}" },
          ],
          colors: TOKEN_COLORS,
        }),
        bars({
          title: "Tokens by tenant",
          description: "Input and output tokens of all runs, by tenant.",
          unit: "short",
          queries: [
            {
              expr: sum([JOB, TENANT], grown(tokens(), STEP)),
              legend: "{{entelix_tenant_id}} {{job}}",
            },
          ],
          links: [tenantTraces("series", "complete"), tenantBoard("series")],
        }),
        lines({
          title: "Cost of a run by agent",
          description:
            "Cost of the agent's own model calls, divided by its runs that completed. A step up is a longer prompt, a dearer model or a loop.",
          unit: "currencyUSD",
          queries: [
            {
              expr: ratio(
                sum([AGENT], grown(cost, STEP)),
                sum([AGENT], grown(reportedByAgent, STEP)),
              ),
              legend: "{{gen_ai_agent_name}}",
            },
          ],
          links: [agentBoard("series")],
        }),
      ],
    },
    {
      height: 9,
      panels: [
        rows({
          title: "Cost and tokens by tenant and agent",
          description: "In the time range, the dearest on top.",
          unit: "short",
          labels: { [TENANT]: "Tenant", [AGENT]: "Agent" },
          values: [
            {
              expr: sum([TENANT, AGENT], grown(cost, RANGE)),
              header: "Cost",
              unit: "currencyUSD",
            },
            { expr: sum([TENANT, AGENT], grown(tokens(INPUT), RANGE)), header: "Input tokens" },
            { expr: sum([TENANT, AGENT], grown(tokens(OUTPUT), RANGE)), header: "Output tokens" },
            { expr: sum([TENANT, AGENT], grown(reportedByAgent, RANGE)), header: "Runs completed" },
          ],
          links: [agentBoard("row"), tenantBoard("row")],
        }),
      ],
    },
  ],
};

export const costs: Board = {
  key: "cost",
  title: "Entelix: cost and tokens",
  description: "What runs cost and how many tokens they used, by tenant and agent.",
  variables: [serviceVariable(), tenantVariable(), intervalVariable()],
  sections: [numbers, overTime],
};
