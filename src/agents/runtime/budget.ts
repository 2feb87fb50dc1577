import {
  addDecimals,
  checkedElsewhere,
  type Decimal,
  formatDecimal,
  isCount,
  isGreater,
  isWholeNumber,
  type ModelCallUsage,
  type OptionChecks,
  parseDecimal,
  type UsageLimitBreach,
  type UsageSnapshot,
  ZERO,
} from "../../events/door.ts";

/** The budget of a run together with all its sub-agents. An absent field has no limit. */
export interface BudgetLimits {
  /** Maximum number of model calls. Further calls are refused. */
  readonly requests?: number | undefined;
  /** Maximum number of tokens. Usage is known only after an answer, so the last answer may exceed the limit. */
  readonly inputTokens?: number | bigint | undefined;
  readonly outputTokens?: number | bigint | undefined;
  /** Maximum number of input and output tokens together. */
  readonly totalTokens?: number | bigint | undefined;
  /** Maximum number of tool calls. Further calls are refused. */
  readonly toolCalls?: number | undefined;
  /** Maximum cost in US dollars, as a decimal number in text, such as `"0.50"`. */
  readonly costUsd?: string | undefined;
}

/** The names of the limits. {@link UsageBudget} checks their values. */
export const BUDGET_CHECKS: OptionChecks<BudgetLimits> = {
  requests: checkedElsewhere,
  inputTokens: checkedElsewhere,
  outputTokens: checkedElsewhere,
  totalTokens: checkedElsewhere,
  toolCalls: checkedElsewhere,
  costUsd: checkedElsewhere,
};

type TokenAxis = "input_tokens" | "output_tokens" | "total_tokens";

/** Usage and limits of a run and its sub-agents. */
export interface Budget {
  /** Counts a model call. If it exceeds a limit, returns that limit and does not count. */
  takeRequest(): UsageLimitBreach | undefined;
  /** Counts a tool call, in the same way. */
  takeToolCall(): UsageLimitBreach | undefined;
  /** The limit that another tool call would exceed. */
  checkToolCall(): UsageLimitBreach | undefined;
  /** Adds the tokens of a model call. Returns the limit that they exceed. */
  addUsage(usage: ModelCallUsage): UsageLimitBreach | undefined;
  /**
   * Adds US dollars. Returns the limit that they exceed.
   *
   * @throws TypeError unless `usd` is a decimal number from 0 as text.
   */
  addCost(usd: string): UsageLimitBreach | undefined;
  /**
   * Usage so far. `null` without limits and without reported tokens or cost. Unreported figures are absent, such as
   * the cost without a price.
   */
  snapshot(): UsageSnapshot | null;
}

/**
 * Counters with limits, like `RunBudget` of entelix-core. Calls are counted before they start, tokens and cost once
 * they are known.
 */
export class UsageBudget implements Budget {
  readonly #calls: Readonly<Record<"requests" | "tool_calls", number | undefined>>;
  readonly #tokens: Readonly<Record<TokenAxis, bigint | undefined>>;
  readonly #costLimit: Decimal | undefined;
  /** The parent run's budget. All usage also counts there. */
  readonly #above: Budget | undefined;
  readonly #limited: boolean;
  #requests = 0;
  #toolCalls = 0;
  #input = 0n;
  #output = 0n;
  #cacheRead: bigint | undefined;
  #cacheWrite: bigint | undefined;
  /** `undefined`: not known. */
  #cost: Decimal | undefined;
  #reported = false;

  /**
   * @param above the parent's budget, for a sub-agent with a budget of its own.
   * @throws RangeError or TypeError for an invalid limit.
   */
  constructor(limits: BudgetLimits | undefined, above?: Budget) {
    this.#calls = {
      requests: callLimit(limits?.requests, "budget.requests"),
      tool_calls: callLimit(limits?.toolCalls, "budget.toolCalls"),
    };
    this.#tokens = {
      input_tokens: tokenLimit(limits?.inputTokens, "budget.inputTokens"),
      output_tokens: tokenLimit(limits?.outputTokens, "budget.outputTokens"),
      total_tokens: tokenLimit(limits?.totalTokens, "budget.totalTokens"),
    };
    const cost = limits?.costUsd;
    this.#costLimit = cost === undefined ? undefined : parseDecimal(cost, "budget.costUsd");
    this.#above = above;
    this.#limited = limits !== undefined;
  }

  takeRequest(): UsageLimitBreach | undefined {
    const breach = this.#exceeded() ?? this.#full("requests", this.#requests);
    const refused = breach ?? this.#above?.takeRequest();
    if (refused === undefined) this.#requests += 1;
    return refused;
  }

  takeToolCall(): UsageLimitBreach | undefined {
    const breach = this.#exceeded() ?? this.#full("tool_calls", this.#toolCalls);
    const refused = breach ?? this.#above?.takeToolCall();
    if (refused === undefined) this.#toolCalls += 1;
    return refused;
  }

  checkToolCall(): UsageLimitBreach | undefined {
    const breach = this.#exceeded() ?? this.#full("tool_calls", this.#toolCalls);
    return breach ?? this.#above?.checkToolCall();
  }

  addUsage(usage: ModelCallUsage): UsageLimitBreach | undefined {
    this.#input += wholeNumber(usage.input_tokens) ?? 0n;
    this.#output += wholeNumber(usage.output_tokens) ?? 0n;
    this.#cacheRead = sum(this.#cacheRead, usage.cache_read_input_tokens);
    this.#cacheWrite = sum(this.#cacheWrite, usage.cache_write_input_tokens);
    this.#reported = true;
    const above = this.#above?.addUsage(usage);
    return this.#exceeded() ?? above;
  }

  addCost(usd: string): UsageLimitBreach | undefined {
    this.#cost = addDecimals(this.#cost ?? ZERO, parseDecimal(usd, "addCost"));
    this.#reported = true;
    const above = this.#above?.addCost(usd);
    return this.#exceeded() ?? above;
  }

  snapshot(): UsageSnapshot | null {
    if (!this.#limited && !this.#reported) return null;
    return {
      requests: this.#requests,
      input_tokens: plain(this.#input),
      output_tokens: plain(this.#output),
      tool_calls: this.#toolCalls,
      ...(this.#cost === undefined ? {} : { cost_usd: formatDecimal(this.#cost) }),
      ...(this.#cacheRead === undefined ? {} : { cache_read_input_tokens: plain(this.#cacheRead) }),
      ...(this.#cacheWrite === undefined
        ? {}
        : { cache_write_input_tokens: plain(this.#cacheWrite) }),
    };
  }

  #full(axis: "requests" | "tool_calls", observed: number): UsageLimitBreach | undefined {
    const limit = this.#calls[axis];
    return limit !== undefined && observed >= limit ? { axis, limit, observed } : undefined;
  }

  /** The exceeded limit of tokens or cost, if any. */
  #exceeded(): UsageLimitBreach | undefined {
    const used: Readonly<Record<TokenAxis, bigint>> = {
      input_tokens: this.#input,
      output_tokens: this.#output,
      total_tokens: this.#input + this.#output,
    };
    for (const axis of ["input_tokens", "output_tokens", "total_tokens"] as const) {
      const limit = this.#tokens[axis];
      if (limit !== undefined && used[axis] > limit) {
        return { axis, limit: plain(limit), observed: plain(used[axis]) };
      }
    }
    const limit = this.#costLimit;
    const cost = this.#cost;
    if (limit === undefined || cost === undefined || !isGreater(cost, limit)) return undefined;
    return { axis: "cost_usd", limit: formatDecimal(limit), observed: formatDecimal(cost) };
  }
}

function callLimit(value: unknown, field: string): number | undefined {
  if (value === undefined || isCount(value)) return value;
  throw new RangeError(`${field}: expected a whole number from 0, got ${String(value)}`);
}

function tokenLimit(value: unknown, field: string): bigint | undefined {
  if (value === undefined) return undefined;
  const limit = wholeNumber(value);
  if (limit !== undefined) return limit;
  throw new RangeError(`${field}: expected a whole number from 0, got ${String(value)}`);
}

function sum(before: bigint | undefined, more: unknown): bigint | undefined {
  const added = wholeNumber(more);
  return added === undefined ? before : (before ?? 0n) + added;
}

function wholeNumber(value: unknown): bigint | undefined {
  return isWholeNumber(value) ? BigInt(value) : undefined;
}

function plain(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
