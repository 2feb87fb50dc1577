import type { BudgetExceeded, Cancelled, Count, Done, TokenUsage, TurnComplete } from "./events.ts";
import type { OpenRun } from "./open-run.ts";

/** Totals of a run or thread at one event. */
export interface Totals {
  readonly usage: TokenUsage;
  readonly turns: Count;
  readonly cost?: Count | null | undefined;
}

/** Token counts in upstream's order. The cached ones may be absent. */
type Tokens = readonly [input: number, output: number, cached: number, creation: number];

const NONE: Tokens = [0, 0, 0, 0];

/** Reported usage of the runs of a thread so far. */
export interface ThreadTotals {
  /** Absent if earlier runs were not seen. */
  tokens: Tokens | undefined;
  /** The last reported cost. */
  cost: number | undefined;
}

/**
 * Usage of a run. Agents from 0.10 on report turns, tokens and cost of the whole thread at the end of each run. The
 * usage of earlier runs is subtracted.
 */
export class RunTotals {
  readonly #thread: ThreadTotals;
  #before: Readonly<ThreadTotals> = { tokens: undefined, cost: undefined };
  #turnsBefore: number | undefined;
  #used: Tokens = NONE;

  constructor(thread: ThreadTotals) {
    this.#thread = thread;
  }

  /** The run was seen from its start, after this number of turns of its thread. */
  beginsAfter(turns: Count): void {
    this.#turnsBefore = Number(turns);
    if (this.#turnsBefore <= 0) {
      this.#thread.tokens = NONE;
      this.#thread.cost = 0;
    }
    this.#before = { ...this.#thread };
  }

  /** Adds the usage of a finished turn. */
  used(usage: TokenUsage): void {
    const tokens = tokensOf(usage);
    this.#used = plus(this.#used, tokens);
    const { tokens: before } = this.#thread;
    if (before !== undefined) this.#thread.tokens = plus(before, tokens);
  }

  /** The run's own part of totals that may be those of its thread. */
  own(reported: Totals): Totals {
    const tokens = tokensOf(reported.usage);
    const { tokens: before, cost: costBefore } = this.#before;
    this.#thread.tokens = tokens;
    if (reported.cost != null) this.#thread.cost = Number(reported.cost);
    if (this.#turnsBefore === undefined || this.#turnsBefore <= 0) return reported;
    const turns = Number(reported.turns) - this.#turnsBefore;
    // Totals smaller than the known sum of their parts are those of this run alone.
    if (turns < 0 || !holds(tokens, plus(before ?? NONE, this.#used))) return reported;
    const own = before === undefined ? this.#used : minus(tokens, before);
    return { usage: usageOf(own), turns, cost: costWithout(reported.cost, costBefore) };
  }

  /** Whether totals include the known usage of the run, and of its thread. */
  sumUp({ usage }: Totals): boolean {
    const tokens = tokensOf(usage);
    const thread = this.#thread.tokens;
    return holds(tokens, this.#used) && (thread === undefined || holds(tokens, thread));
  }
}

/** A terminal event with the usage of the run itself instead of the thread's. */
export function withOwnTotals<E extends Done | Cancelled | BudgetExceeded>(
  event: E,
  totals: RunTotals,
): E {
  if (event.type === "cancelled") {
    const reported = { usage: event.usage, turns: event.turn };
    const own = totals.own(reported);
    return own === reported ? event : { ...event, usage: own.usage, turn: own.turns };
  }
  const { total_usage: usage, total_turns: turns, estimated_cost_usd: cost } = event;
  const reported = { usage, turns, cost };
  const own = totals.own(reported);
  if (own === reported) return event;
  const { usage: total_usage, turns: total_turns, cost: estimated_cost_usd } = own;
  return { ...event, total_usage, total_turns, estimated_cost_usd };
}

/** Rounded, because the difference of two doubles has meaningless digits. */
function costWithout(cost: Count | null | undefined, before: number | undefined) {
  if (cost == null || before === undefined) return undefined;
  const own = Number(cost) - before;
  return own < 0 ? cost : Number(own.toFixed(12));
}

function tokensOf(usage: TokenUsage): Tokens {
  return [
    Number(usage.input_tokens),
    Number(usage.output_tokens),
    Number(usage.cached_input_tokens ?? 0),
    Number(usage.cache_creation_input_tokens ?? 0),
  ];
}

function usageOf([input, output, cached, creation]: Tokens): TokenUsage {
  return {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: cached,
    cache_creation_input_tokens: creation,
  };
}

function plus(a: Tokens, b: Tokens): Tokens {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
}

function minus(a: Tokens, b: Tokens): Tokens {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]];
}

function holds(sum: Tokens, part: Tokens): boolean {
  return sum.every((tokens, n) => tokens >= (part[n] ?? 0));
}

/**
 * Whether a `turn_complete` repeats a finished turn with the totals of the run. An agent that waits for further prompts
 * (`run_persistent`) sends this instead of `done`, and nothing if none come.
 */
export function isParked(event: TurnComplete, run: OpenRun): boolean {
  const again = run.model === undefined && event.turn === run.lastTurn;
  return again && run.mayEnd === undefined && run.totals.sumUp(sums(event));
}

/** The totals in the event, of the run or of its thread. */
export function sums({ usage, turn: turns }: TurnComplete): Totals {
  return { usage, turns };
}
