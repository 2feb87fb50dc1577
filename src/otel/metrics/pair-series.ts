import type { Instruments } from "./instruments.ts";
import { OUTCOMES, WATCHED_OUTCOMES } from "./run-outcomes.ts";
import type { Series } from "./series-table.ts";
import { FallibleSeries } from "./series-table.ts";

/** The series of one agent, for all tenants: the conventions' metrics have no tenant. */
export class AgentSeries {
  /** Of its runs, by their `error.type`. */
  readonly durations: FallibleSeries;
  readonly toolCalls: Series;
  /** Of its tool calls, by the name of the tool. */
  readonly tools = new Map<string, FallibleSeries>();

  /** @param agent value of its label. */
  constructor(instruments: Instruments, agent: string) {
    const { runDurations, toolCallCounts } = instruments;
    this.durations = new FallibleSeries((error) => runDurations.of(agent, error));
    this.toolCalls = toolCallCounts.of(agent);
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
  #atZero = false;

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
    this.tokens("input");
    this.tokens("output");
    this.cost();
    this.pending();
    this.oldest();
    this.#instruments.conflictsOf(this.tenant);
  }

  /** @param position of the outcome among `OUTCOMES`. */
  runs(position: number, root: boolean): Series {
    const found = root ? this.#rootRuns : this.#childRuns;
    const there = found[position];
    if (there !== undefined) return there;
    const how = OUTCOMES[position];
    const { agent, tenant } = this;
    const made = this.#instruments.runs.of(how?.outcome, how?.failureKind, agent, tenant, root);
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
