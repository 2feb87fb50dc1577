import type * as cog from "@grafana/grafana-foundation-sdk/cog";
import * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import { RECORDS } from "../../slo/src/records.ts";
import { PROMETHEUS } from "./names.ts";
import { series } from "./queries.ts";

type Variable = dashboard.QueryVariableBuilder;

/** How Grafana's editor calls a query for the values of a label. */
const LABEL_VALUES = 1;

const IN_SERVICE = 'job=~"$service"';
const RUNS_IN_SERVICE = series("entelix_runs_total", IN_SERVICE);

/** The services that send metrics; a service is one `service.name`. */
export function serviceVariable(): Variable {
  return several(ofLabel("service", "Service", "job", series("entelix_runs_total")));
}

export function tenantVariable(): Variable {
  return several(ofLabel("tenant", "Tenant", "entelix_tenant_id", RUNS_IN_SERVICE));
}

/** One agent. */
export function agentVariable(): Variable {
  return ofLabel("agent", "Agent", "gen_ai_agent_name", RUNS_IN_SERVICE);
}

/** One tool. */
export function toolVariable(): Variable {
  const calls = "gen_ai_execute_tool_duration_seconds_count";
  return ofLabel("tool", "Tool", "gen_ai_tool_name", series(calls, IN_SERVICE));
}

/** The models that were asked, under the present name of model calls and the earlier one. */
export function modelVariable(): Variable {
  const calls = '__name__=~"gen_ai_client_(inference|operation)_duration_seconds_count"';
  const selector = `{${calls}, ${IN_SERVICE}}`;
  return several(ofLabel("model", "Model", "gen_ai_request_model", selector));
}

/** One objective. */
export function objectiveVariable(): Variable {
  return ofLabel("objective", "Objective", "objective", series(RECORDS.budget));
}

/** The narrowest bar of the charts; a long time range makes wider ones. */
export function intervalVariable(): dashboard.IntervalVariableBuilder {
  return new dashboard.IntervalVariableBuilder("interval")
    .label("Bar at least")
    .values("1m,5m,15m,1h,6h,1d")
    .current({ selected: true, text: "5m", value: "5m" });
}

/**
 * Hidden, and kept out of the dashboard's address: a text box that an address can fill would let a prepared link
 * send people anywhere.
 */
export function jaegerUrlVariable(url: string): cog.Builder<dashboard.VariableModel> {
  const constant = new dashboard.ConstantVariableBuilder("jaeger_url").label("Jaeger's UI");
  const hidden = { hide: dashboard.VariableHide.HideVariable, skipUrlSync: true };
  return { build: () => ({ ...constant.value(url).build(), ...hidden }) };
}

/** The values that a label has in the time range. */
function ofLabel(name: string, title: string, label: string, selector: string): Variable {
  const query = `label_values(${selector}, ${label})`;
  return new dashboard.QueryVariableBuilder(name)
    .label(title)
    .datasource(PROMETHEUS)
    .query({ qryType: LABEL_VALUES, query, refId: `variable-${name}` })
    .definition(query)
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.AlphabeticalAsc);
}

/** Any number of values, at first all of them; all is one short pattern, not a list. */
function several(variable: Variable): Variable {
  return variable
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .current({ selected: true, text: ["All"], value: ["$__all"] });
}
