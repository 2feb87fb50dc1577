import {
  addDecimals,
  type Decimal,
  formatDecimal,
  MOST_INT,
  readDecimal,
  type SpanAttributes,
} from "../../events/door.ts";

/**
 * Sum of the usage that the model calls of one run reported, without its child runs. A figure that no
 * call reported is `undefined`.
 */
export class OwnUsage {
  inputTokens: number | undefined = undefined;
  outputTokens: number | undefined = undefined;
  cacheReadTokens: number | undefined = undefined;
  cacheWriteTokens: number | undefined = undefined;
  reasoningTokens: number | undefined = undefined;
  /** The model of the call that failed last. */
  failedModel: string | undefined = undefined;
  #cost: Decimal | undefined = undefined;

  /** The exact sum of the known costs, with as many decimal places as the longest of them. */
  get cost(): string | undefined {
    return this.#cost === undefined ? undefined : formatDecimal(this.#cost);
  }

  /** Adds the usage of a call. */
  add(usage: SpanAttributes): void {
    this.inputTokens = sum(this.inputTokens, usage["gen_ai.usage.input_tokens"]);
    this.outputTokens = sum(this.outputTokens, usage["gen_ai.usage.output_tokens"]);
    this.cacheReadTokens = sum(this.cacheReadTokens, usage["gen_ai.usage.cache_read.input_tokens"]);
    this.cacheWriteTokens = sum(
      this.cacheWriteTokens,
      usage["gen_ai.usage.cache_write.input_tokens"],
    );
    this.reasoningTokens = sum(this.reasoningTokens, usage["gen_ai.usage.reasoning.output_tokens"]);
    const cost = usage["entelix.model.cost"];
    const more = cost === undefined ? undefined : readDecimal(cost);
    if (more === undefined) return;
    this.#cost = this.#cost === undefined ? more : addDecimals(this.#cost, more);
  }
}

/** At most what an attribute can hold. */
function sum(before: number | undefined, more: unknown): number | undefined {
  if (typeof more !== "number") return before;
  return Math.min((before ?? 0) + more, MOST_INT);
}
