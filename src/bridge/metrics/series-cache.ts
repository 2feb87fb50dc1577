import type { WaitKind } from "../lifecycle/door.ts";
import type { Instruments } from "./instruments.ts";
import { type LabelCaps, LabelValues } from "./label-values.ts";
import { OTHER } from "./metric-names.ts";
import { OUTCOMES, WATCHED_OUTCOMES } from "./run-outcomes.ts";
import { FallibleSeries, type Series } from "./series-table.ts";

/** Most pairs of tenant and agent, and of agent and tool. Above it, the agent is `_other`. */
const MOST_PAIRS = 4_000;

/**
 * Finds the series of a run or call by its names, without building a key each time.
 *
 * Caps of labels belong to one bridge, series to all bridges. A name always gets the same series. The size
 * is bounded for any names.
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

  /** The series of the runs of a tenant and agent. */
  pair(tenantId: string, agent: string | undefined): PairSeries {
    // Most names are below the cap.
    const shown = agent === undefined ? undefined : this.#byTenant.get(tenantId)?.get(agent);
    return shown ?? this.#pairOf(this.#tenants.of(tenantId), this.#agents.of(agent));
  }

  /** The series of a tool's calls in runs of a pair, by `error.type`. */
  calls(pair: PairSeries, name: string): FallibleSeries {
    return pair.ofAgent.tools.get(name) ?? this.#callsOf(pair, this.#tools.of(name));
  }

  /** The series of a tenant's conflicts. */
  conflicts(tenantId: string): Series {
    return this.#instruments.conflictsOf(this.#tenants.of(tenantId));
  }

  /** The label value of a tool. */
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

/** Open runs with one wait kind: their number, and the longest idle time. */
interface WaitSeries {
  readonly count: Series;
  readonly idle: Series;
}

/** The series of one agent. The metrics of the conventions have no tenant. */
class AgentSeries {
  /** The series of its runs, by `error.type`. */
  readonly durations: FallibleSeries;
  /** The same for workflows of that name. */
  readonly workflows: FallibleSeries;
  readonly toolCalls: Series;
  readonly inferenceCalls: Series;
  /** The series of its tool calls, by tool. */
  readonly tools = new Map<string, FallibleSeries>();

  readonly #waiting = new Map<WaitKind, WaitSeries>();
  readonly #findWaiting: (kind: WaitKind) => WaitSeries;

  /** @param agent label value. */
  constructor(instruments: Instruments, agent: string) {
    const { idle, inferenceCallCounts, runDurations, toolCallCounts, waiting, workflowDurations } =
      instruments;
    this.#findWaiting = (kind) => ({ count: waiting.of(kind, agent), idle: idle.of(kind, agent) });
    this.durations = new FallibleSeries((error) => runDurations.of(agent, error));
    this.workflows = new FallibleSeries((error) => workflowDurations.of(agent, error));
    this.toolCalls = toolCallCounts.of(agent);
    this.inferenceCalls = inferenceCallCounts.of(agent);
  }

  /** The series of its open runs with this wait kind. */
  waiting(kind: WaitKind): WaitSeries {
    const there = this.#waiting.get(kind);
    if (there !== undefined) return there;
    const made = this.#findWaiting(kind);
    this.#waiting.set(kind, made);
    return made;
  }
}

/** The series of the runs of one tenant and agent. Open runs hold a reference to it. */
export class PairSeries {
  readonly tenant: string;
  readonly agent: string;
  readonly active: Series;
  /** The series without a tenant. */
  readonly ofAgent: AgentSeries;
  readonly #instruments: Instruments;
  readonly #rootRuns = noneYet();
  readonly #childRuns = noneYet();
  #input: Series | undefined;
  #output: Series | undefined;
  #cost: Series | undefined;
  #workingTime: Series | undefined;
  #atZero = false;
  #usageAtZero = false;

  /** @param tenant and agent: label values. */
  constructor(instruments: Instruments, tenant: string, agent: string, ofAgent: AgentSeries) {
    this.#instruments = instruments;
    this.tenant = tenant;
    this.agent = agent;
    this.ofAgent = ofAgent;
    this.active = instruments.active.of(agent, tenant);
  }

  /**
   * Creates the series of root runs at 0. Prometheus does not see a series that starts at 1 as an
   * increase.
   */
  startAtZero(): void {
    if (this.#atZero) return;
    this.#atZero = true;
    for (let at = 0; at < WATCHED_OUTCOMES.length; at++) this.runs(at, true);
    this.startUsageAtZero();
    this.pending();
    this.oldest();
    this.#instruments.conflictsOf(this.tenant);
  }

  /** Creates the series of usage at 0. Child runs have them, too. */
  startUsageAtZero(): void {
    if (this.#usageAtZero) return;
    this.#usageAtZero = true;
    this.tokens("input");
    this.tokens("output");
    this.cost();
  }

  /** @param position index in `OUTCOMES`. */
  runs(position: number, root: boolean): Series {
    const found = root ? this.#rootRuns : this.#childRuns;
    const there = found[position];
    if (there !== undefined) return there;
    const how = OUTCOMES[position];
    const { agent, tenant } = this;
    const { runs } = this.#instruments;
    const made = runs.of(how?.outcome, how?.failureKind, how?.origin, agent, tenant, root);
    found[position] = made;
    return made;
  }

  tokens(type: "input" | "output"): Series {
    const { tokens } = this.#instruments;
    if (type === "input") {
      this.#input ??= tokens.of(type, this.agent, this.tenant);
      return this.#input;
    }
    this.#output ??= tokens.of(type, this.agent, this.tenant);
    return this.#output;
  }

  cost(): Series {
    this.#cost ??= this.#instruments.cost.of(this.agent, this.tenant);
    return this.#cost;
  }

  workingTime(): Series {
    this.#workingTime ??= this.#instruments.workingTimes.of(this.agent, this.tenant);
    return this.#workingTime;
  }

  pending(): Series {
    return this.#instruments.pending.of(this.agent, this.tenant);
  }

  oldest(): Series {
    return this.#instruments.oldest.of(this.tenant);
  }
}

function noneYet(): (Series | undefined)[] {
  return OUTCOMES.map(() => undefined);
}
