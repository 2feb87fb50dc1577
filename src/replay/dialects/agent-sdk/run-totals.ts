import type { BudgetExceeded, Cancelled, Count, Done, TokenUsage, TurnComplete } from "./events.ts";
import type { OpenRun } from "./open-run.ts";

/** What a run or a thread had come to, when an event told so. */
export interface Totals {
  readonly usage: TokenUsage;
  readonly turns: Count;
  readonly cost?: Count | null | undefined;
}

/** Tokens as upstream counts them; the cached ones may be absent. */
type Tokens = readonly [input: number, output: number, cached: number, creation: number];

const NONE: Tokens = [0, 0, 0, 0];

/** What the runs of a thread have used so far, as far as it was told. */
export interface ThreadTotals {
  /** Absent where runs came before those that were seen. */
  tokens: Tokens | undefined;
  /** The last cost that was told. */
  cost: number | undefined;
}

/**
 * What a run used. Agents from 0.10 on count turns, tokens and cost over all runs of a thread, and tell
 * those sums at the end of each run: what its thread had used before is none of the run's.
 */
export class RunTotals {
  readonly #thread: ThreadTotals;
  #before: Readonly<ThreadTotals> = { tokens: undefined, cost: undefined };
  #turnsBefore: number | undefined;
  #used: Tokens = NONE;

  constructor(thread: ThreadTotals) {
    this.#thread = thread;
  }

  /** The run was seen from its beginning, which came after so many turns of its thread. */
  beginsAfter(turns: Count): void {
    this.#turnsBefore = Number(turns);
    if (this.#turnsBefore <= 0) {
      this.#thread.tokens = NONE;
      this.#thread.cost = 0;
    }
    this.#before = { ...this.#thread };
  }

  /** One of its turns is over. */
  used(usage: TokenUsage): void {
    const tokens = tokensOf(usage);
    this.#used = plus(this.#used, tokens);
    const { tokens: before } = this.#thread;
    if (before !== undefined) this.#thread.tokens = plus(before, tokens);
  }

  /** Its own part of sums that may be its thread's. */
  own(told: Totals): Totals {
    const tokens = tokensOf(told.usage);
    const { tokens: before, cost: costBefore } = this.#before;
    this.#thread.tokens = tokens;
    if (told.cost != null) this.#thread.cost = Number(told.cost);
    if (this.#turnsBefore === undefined || this.#turnsBefore <= 0) return told;
    const turns = Number(told.turns) - this.#turnsBefore;
    // Sums that do not hold what is known of their parts are of this run alone.
    if (turns < 0 || !holds(tokens, plus(before ?? NONE, this.#used))) return told;
    const own = before === undefined ? this.#used : minus(tokens, before);
    return { usage: usageOf(own), turns, cost: costWithout(told.cost, costBefore) };
  }

  /** Whether sums hold those of the run, or of its thread, and no less. */
  sumUp({ usage }: Totals): boolean {
    const tokens = tokensOf(usage);
    const thread = this.#thread.tokens;
    return holds(tokens, this.#used) && (thread === undefined || holds(tokens, thread));
  }
}

/** An end of a run with what the run itself used, in place of what its thread did. */
export function withOwnTotals<E extends Done | Cancelled | BudgetExceeded>(
  event: E,
  totals: RunTotals,
): E {
  if (event.type === "cancelled") {
    const told = { usage: event.usage, turns: event.turn };
    const own = totals.own(told);
    return own === told ? event : { ...event, usage: own.usage, turn: own.turns };
  }
  const { total_usage: usage, total_turns: turns, estimated_cost_usd: cost } = event;
  const told = { usage, turns, cost };
  const own = totals.own(told);
  if (own === told) return event;
  const { usage: total_usage, turns: total_turns, cost: estimated_cost_usd } = own;
  return { ...event, total_usage, total_turns, estimated_cost_usd };
}

/** Rounded: a difference of doubles has digits that nobody told. */
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
 * Whether a turn that is over is told to be so once more, with the sums of the run: an agent that waits
 * for further prompts (`run_persistent`) says that in place of `done`, and nothing when none come.
 */
export function isParked(event: TurnComplete, run: OpenRun): boolean {
  const again = run.model === undefined && event.turn === run.lastTurn;
  return again && run.mayEnd === undefined && run.totals.sumUp(sums(event));
}

/** What the run or its thread had come to with the event. */
export function sums({ usage, turn: turns }: TurnComplete): Totals {
  return { usage, turns };
}
