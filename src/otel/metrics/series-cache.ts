import type { Instruments } from "./instruments.ts";
import type { LabelCaps } from "./label-values.ts";
import { LabelValues } from "./label-values.ts";
import { OTHER } from "./metric-names.ts";
import { AgentSeries, PairSeries } from "./pair-series.ts";
import type { Series } from "./series-table.ts";
import { FallibleSeries } from "./series-table.ts";

/** Pairs kept of tenant and agent, and of agent and tool; beyond it the agent is `_other`. */
const MOST_PAIRS = 4_000;

/**
 * Finds the series of a run or call by names as they come, without making a key of them each time.
 *
 * The caps on the labels belong to one bridge, the series behind them to all. Which series a name
 * gets never changes. Bounded, whatever the names.
 */
export class SeriesCache {
  readonly #instruments: Instruments;
  readonly #tenants: LabelValues;
  readonly #agents: LabelValues;
  readonly #tools: LabelValues;
  readonly #byTenant = new Map<string, Map<string, PairSeries>>();
  readonly #byAgent = new Map<string, AgentSeries>();
  #pairs = 0;
  #agentTools = 0;

  constructor(instruments: Instruments, caps: LabelCaps) {
    this.#instruments = instruments;
    this.#tenants = new LabelValues(caps.tenants);
    this.#agents = new LabelValues(caps.agents);
    this.#tools = new LabelValues(caps.tools);
  }

  /** Of the runs of a tenant and agent. */
  pair(tenantId: string, agent: string | undefined): PairSeries {
    // Most names are shown as they are.
    const shown = agent === undefined ? undefined : this.#byTenant.get(tenantId)?.get(agent);
    return shown ?? this.#pairOf(this.#tenants.of(tenantId), this.#agents.of(agent));
  }

  /** Of a tool's calls in a run of a pair, by their `error.type`. */
  calls(pair: PairSeries, name: string): FallibleSeries {
    return pair.ofAgent.tools.get(name) ?? this.#callsOf(pair, this.#tools.of(name));
  }

  /** The tenant conflicts of a tenant. */
  conflicts(tenantId: string): Series {
    return this.#instruments.conflictsOf(this.#tenants.of(tenantId));
  }

  /** The value of the label of a tool. */
  tool(name: string): string {
    return this.#tools.of(name);
  }

  #pairOf(tenant: string, shown: string): PairSeries {
    let byAgent = this.#byTenant.get(tenant);
    if (byAgent === undefined) {
      byAgent = new Map();
      this.#byTenant.set(tenant, byAgent);
    }
    const agent = byAgent.has(shown) || this.#pairs < MOST_PAIRS ? shown : OTHER;
    const there = byAgent.get(agent);
    if (there !== undefined) return there;
    const made = new PairSeries(this.#instruments, tenant, agent, this.#agentSeries(agent));
    byAgent.set(agent, made);
    this.#pairs++;
    return made;
  }

  #callsOf(pair: PairSeries, tool: string): FallibleSeries {
    const full = this.#agentTools >= MOST_PAIRS && !pair.ofAgent.tools.has(tool);
    const agent = full ? OTHER : pair.agent;
    const { tools } = this.#agentSeries(agent);
    const there = tools.get(tool);
    if (there !== undefined) return there;
    const { callDurations } = this.#instruments;
    const made = new FallibleSeries((error) => callDurations.of(tool, "function", agent, error));
    tools.set(tool, made);
    this.#agentTools++;
    return made;
  }

  #agentSeries(agent: string): AgentSeries {
    const there = this.#byAgent.get(agent);
    if (there !== undefined) return there;
    const made = new AgentSeries(this.#instruments, agent);
    this.#byAgent.set(agent, made);
    return made;
  }
}
