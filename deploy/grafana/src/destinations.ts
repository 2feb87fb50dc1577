import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import {
  AGENT,
  ERROR_TYPE,
  FAILURE_KIND,
  OUTCOME,
  TENANT,
  TOOL,
  TOOL_ERROR_KIND,
} from "./labels.ts";
import { type Clicked, dashboardLink, jaegerLink, labelOf } from "./links.ts";

type Link = dashboard.DashboardLinkBuilder;

/** The traces in which a run failed with the clicked kind. `more` narrows them. */
export function failedTraces(clicked: Clicked, more: Readonly<Record<string, string>> = {}): Link {
  const tags = { "entelix.failure.kind": labelOf(clicked, FAILURE_KIND), ...more };
  return jaegerLink("Traces that failed this way", clicked, { tags });
}

/** The traces in which a run of the clicked tenant ended as `outcome` says. */
export function tenantTraces(clicked: Clicked, outcome: string): Link {
  return jaegerLink(`This tenant's ${outcome} traces`, clicked, {
    tags: { "entelix.tenant_id": labelOf(clicked, TENANT), "entelix.run.outcome": outcome },
  });
}

/** The traces in which a run ended as the clicked outcome says. `more` narrows them. */
export function endedTraces(clicked: Clicked, more: Readonly<Record<string, string>> = {}): Link {
  const tags = { "entelix.run.outcome": labelOf(clicked, OUTCOME), ...more };
  return jaegerLink("Traces that ended this way", clicked, { tags });
}

/** The traces in which a tool call failed with the clicked tool error kind. `tool` names the tool. */
export function toolErrorTraces(clicked: Clicked, tool: string): Link {
  const kind = labelOf(clicked, TOOL_ERROR_KIND);
  return jaegerLink("Traces with this tool error", clicked, {
    tags: { "gen_ai.tool.name": tool, "entelix.tool.error_kind": kind },
  });
}

/** The traces whose run the clicked tool ended, with the clicked tool error kind. `tool` names the tool. */
export function endedByTool(clicked: Clicked, tool: string): Link {
  const kind = labelOf(clicked, TOOL_ERROR_KIND);
  return jaegerLink("Traces that this tool ended", clicked, {
    tags: { "entelix.failure.tool_name": tool, "entelix.failure.tool_error_kind": kind },
  });
}

/** The traces in which a model call failed with the clicked error. `more` narrows them. */
export function brokenModelCalls(clicked: Clicked, more: Readonly<Record<string, string>>): Link {
  return jaegerLink("Traces with this failed call", clicked, {
    tags: { "entelix.model.outcome": "error", "error.type": labelOf(clicked, ERROR_TYPE), ...more },
  });
}

/** The traces that hold a span of this name that took as long as the clicked value, or longer. */
export function slowTraces(operation: string): Link {
  return jaegerLink("Traces as slow as this", "series", {
    tags: {},
    operation,
    minDuration: `\${__value.raw}s`,
  });
}

/** The traces with a run of the clicked agent that took as long as the clicked value, or longer. */
export function slowRuns(): Link {
  return jaegerLink("Traces as slow as this", "series", {
    tags: { "gen_ai.agent.name": labelOf("series", AGENT) },
    minDuration: `\${__value.raw}s`,
  });
}

export function agentBoard(clicked: Clicked): Link {
  return dashboardLink("This agent", "agent", { agent: labelOf(clicked, AGENT) });
}

export function toolBoard(clicked: Clicked): Link {
  return dashboardLink("This tool", "tool", { tool: labelOf(clicked, TOOL) });
}

/** The overview of the clicked tenant alone. */
export function tenantBoard(clicked: Clicked): Link {
  return dashboardLink("Only this tenant", "overview", { tenant: labelOf(clicked, TENANT) });
}
