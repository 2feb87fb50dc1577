import {
  addDecimals,
  type Decimal,
  formatDecimal,
  type ModelCallUsage,
  readDecimal,
  soundUsage,
  type UsageSnapshot,
} from "../../events/door.ts";

/** Sums the usage of the model and tool calls of a run and its child runs. */
export class UsageTotals {
  requests = 0;
  toolCalls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #cacheRead: number | undefined;
  #cacheWrite: number | undefined;
  /** `undefined`: not known. */
  #cost: Decimal | undefined;
  /** Whether any model reported its usage. Without a report, zeros would be wrong. */
  #reported = false;

  /**
   * Adds the usage of one model call.
   *
   * @param cost US dollars as decimal text, if known.
   */
  add(given: ModelCallUsage | undefined, cost?: string): void {
    if (given === undefined) return;
    const usage = soundUsage(given);
    this.#reported = true;
    this.#inputTokens += Number(usage.input_tokens ?? 0);
    this.#outputTokens += Number(usage.output_tokens ?? 0);
    this.#cacheRead = sum(this.#cacheRead, usage.cache_read_input_tokens);
    this.#cacheWrite = sum(this.#cacheWrite, usage.cache_write_input_tokens);
    const more = cost === undefined ? undefined : readDecimal(cost);
    if (more !== undefined) {
      this.#cost = this.#cost === undefined ? more : addDecimals(this.#cost, more);
    }
  }

  /** The usage for `complete`. `null` until a model reports its usage. */
  snapshot(): UsageSnapshot | null {
    if (!this.#reported) return null;
    return {
      requests: this.requests,
      input_tokens: this.#inputTokens,
      output_tokens: this.#outputTokens,
      tool_calls: this.toolCalls,
      ...(this.#cost === undefined ? {} : { cost_usd: formatDecimal(this.#cost) }),
      ...(this.#cacheRead === undefined ? {} : { cache_read_input_tokens: this.#cacheRead }),
      ...(this.#cacheWrite === undefined ? {} : { cache_write_input_tokens: this.#cacheWrite }),
    };
  }
}

function sum(before: number | undefined, more: number | bigint | null | undefined) {
  return more === null || more === undefined ? before : (before ?? 0) + Number(more);
}
