import {
  addDecimals,
  type Decimal,
  formatDecimal,
  isCount,
  isGreater,
  isWholeNumber,
  type ModelCallUsage,
  parseDecimal,
  type UsageLimitBreach,
  type UsageSnapshot,
  ZERO,
} from "../../events/door.ts";

/** The budget of a run and all its sub-agents together. Fields that are left out have no limit. */
export interface BudgetLimits {
  /** Model calls. The call after the last one is refused. */
  readonly requests?: number | undefined;
  /**
   * Tokens. They are known only after a model answered, so the answer that exceeds the limit is the
   * last one.
   */
  readonly inputTokens?: number | bigint | undefined;
  readonly outputTokens?: number | bigint | undefined;
  /** Input and output together. */
  readonly totalTokens?: number | bigint | undefined;
  /** Tool calls. The call after the last one is refused. */
  readonly toolCalls?: number | undefined;
  /** US dollars as a decimal number in text, such as `"0.50"`. */
  readonly costUsd?: string | undefined;
}

type TokenAxis = "input_tokens" | "output_tokens" | "total_tokens";

/** What a run uses, with its limits: shared by the run and its sub-agents. */
export interface Budget {
  /** Counts a model call, unless one more is too many: then it says which limit, and counts nothing. */
  takeRequest(): UsageLimitBreach | undefined;
  /** Counts a tool call, unless one more is too many. */
  takeToolCall(): UsageLimitBreach | undefined;
  /** What a tool call would be refused for. */
  checkToolCall(): UsageLimitBreach | undefined;
  /** Adds the tokens of a model call. The answer is the limit that they pass. */
  addUsage(usage: ModelCallUsage): UsageLimitBreach | undefined;
  /** Adds US dollars. @throws TypeError unless `usd` is a decimal number from 0 in text. */
  addCost(usd: string): UsageLimitBreach | undefined;
  /**
   * What was used so far; `null` without limits and without reported tokens or cost. A figure that nobody
   * reported, such as the cost without a price, is absent.
   */
  snapshot(): UsageSnapshot | null;
}

/**
 * Counters with limits. Upstream: `RunBudget` of entelix-core: calls are counted before they are
 * made, tokens and cost once they are known.
 */
export class UsageBudget implements Budget {
  readonly #calls: Readonly<Record<"requests" | "tool_calls", number | undefined>>;
  readonly #tokens: Readonly<Record<TokenAxis, bigint | undefined>>;
  readonly #costLimit: Decimal | undefined;
  /** The budget of the run above, which what is used here counts against as well. */
  readonly #above: Budget | undefined;
  readonly #limited: boolean;
  #requests = 0;
  #toolCalls = 0;
  #input = 0n;
  #output = 0n;
  #cacheRead: bigint | undefined;
  #cacheWrite: bigint | undefined;
  /** `undefined`: nobody knows it. */
  #cost: Decimal | undefined;
  #reported = false;

  /**
   * @param above set for a sub-agent with a budget of its own.
   * @throws RangeError or TypeError for a limit that is none.
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

  /** What is only known afterwards may stand above its limit. */
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

/** The value as `bigint`, where it is a whole number from 0. */
function wholeNumber(value: unknown): bigint | undefined {
  return isWholeNumber(value) ? BigInt(value) : undefined;
}

function plain(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
