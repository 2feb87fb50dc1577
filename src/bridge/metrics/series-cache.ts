import type { WaitKind } from "../lifecycle/waiting.ts";
import type { Instruments } from "./instruments.ts";
import { type LabelCaps, type LabelOption, LabelValues } from "./label-values.ts";
import { OTHER } from "./metric-names.ts";
import { OUTCOMES, WATCHED_OUTCOMES } from "./run-outcomes.ts";
import { FallibleSeries, type Series } from "./series-table.ts";

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

/** Of open runs that wait for one thing: how many there are, and how long the longest was silent. */
interface WaitSeries {
  readonly count: Series;
  readonly idle: Series;
}

/** The series of one agent, for all tenants: the conventions' metrics have no tenant. */
class AgentSeries {
  /** Of its runs, by their `error.type`. */
  readonly durations: FallibleSeries;
  readonly toolCalls: Series;
  /** Of its tool calls, by the name of the tool. */
  readonly tools = new Map<string, FallibleSeries>();

  readonly #waiting = new Map<WaitKind, WaitSeries>();
  readonly #findWaiting: (kind: WaitKind) => WaitSeries;

  /** @param agent value of its label. */
  constructor(instruments: Instruments, agent: string) {
    const { runDurations, toolCallCounts, waiting, idle } = instruments;
    this.#findWaiting = (kind) => ({ count: waiting.of(kind, agent), idle: idle.of(kind, agent) });
    this.durations = new FallibleSeries((error) => runDurations.of(agent, error));
    this.toolCalls = toolCallCounts.of(agent);
  }

  /** Of its open runs that wait for this. */
  waiting(kind: WaitKind): WaitSeries {
    const there = this.#waiting.get(kind);
    if (there !== undefined) return there;
    const made = this.#findWaiting(kind);
    this.#waiting.set(kind, made);
    return made;
  }
}

/** The series of the runs of one tenant and agent, each found once. A run keeps it while it lives. */
export class PairSeries {
  readonly tenant: string;
  readonly agent: string;
  readonly active: Series;
  /** Those that have no tenant. */
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

  /** @param tenant and agent: values of their labels. */
  constructor(instruments: Instruments, tenant: string, agent: string, ofAgent: AgentSeries) {
    this.#instruments = instruments;
    this.tenant = tenant;
    this.agent = agent;
    this.ofAgent = ofAgent;
    this.active = instruments.active.of(agent, tenant);
  }

  /**
   * Makes the series of root runs, so that they are seen at 0 before the first of them counts: what
   * is born at 1 is no increase to Prometheus.
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

  /** The same for what child runs count, too: what their model calls use. */
  startUsageAtZero(): void {
    if (this.#usageAtZero) return;
    this.#usageAtZero = true;
    this.tokens("input");
    this.tokens("output");
    this.cost();
  }

  /** @param position of the outcome among `OUTCOMES`. */
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

/** Providers that are shown by name. */
const MOST_PROVIDERS = 20;

/** The conventions' name of what a model call does. */
const CHAT = "chat";
/** Sources do not say whether tokens are of text, images or sound. */
const MODALITY = "unknown";

/** The series of one model of one provider. */
interface ModelSeries {
  /** Of its calls, by their `error.type`. */
  readonly durations: FallibleSeries;
  readonly inputTokens: Series;
  readonly outputTokens: Series;
}

/** Finds the series of a model call by names as they come. Bounded, whatever the names. */
export class ModelSeriesCache {
  readonly #instruments: Instruments;
  readonly #providers = new LabelValues(MOST_PROVIDERS);
  readonly #models: LabelValues;
  readonly #byProvider = new Map<string, Map<string, ModelSeries>>();

  /** @param models the cap of the label. */
  constructor(instruments: Instruments, models: LabelOption) {
    this.#instruments = instruments;
    this.#models = new LabelValues(models);
  }

  of(providerName: string | undefined, modelName: string | undefined): ModelSeries {
    const provider = this.#providers.of(providerName);
    const model = this.#models.of(modelName);
    let byModel = this.#byProvider.get(provider);
    if (byModel === undefined) {
      byModel = new Map();
      this.#byProvider.set(provider, byModel);
    }
    const there = byModel.get(model);
    if (there !== undefined) return there;
    const made = this.#make(provider, model);
    byModel.set(model, made);
    return made;
  }

  #make(provider: string, model: string): ModelSeries {
    const { inputTokens, modelDurations, outputTokens } = this.#instruments;
    return {
      durations: new FallibleSeries((error) => modelDurations.of(CHAT, provider, model, error)),
      inputTokens: inputTokens.of(CHAT, provider, model, MODALITY),
      outputTokens: outputTokens.of(CHAT, provider, model, MODALITY),
    };
  }
}
