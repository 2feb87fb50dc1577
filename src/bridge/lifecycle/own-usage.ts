import {
  addDecimals,
  type Decimal,
  formatDecimal,
  MOST_INT,
  readDecimal,
  type SpanAttributes,
} from "../../events/door.ts";

/**
 * What the model calls of one run used, as their ends said: without the runs below it, and beside the
 * budget that it shares with them. A figure that no call named is `undefined`.
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

  /** Exactly the sum of the costs that are known, with the places of the longest. */
  get cost(): string | undefined {
    return this.#cost === undefined ? undefined : formatDecimal(this.#cost);
  }

  /** Adds what the end of a call says. */
  add(said: SpanAttributes): void {
    this.inputTokens = sum(this.inputTokens, said["gen_ai.usage.input_tokens"]);
    this.outputTokens = sum(this.outputTokens, said["gen_ai.usage.output_tokens"]);
    this.cacheReadTokens = sum(this.cacheReadTokens, said["gen_ai.usage.cache_read.input_tokens"]);
    this.cacheWriteTokens = sum(
      this.cacheWriteTokens,
      said["gen_ai.usage.cache_write.input_tokens"],
    );
    this.reasoningTokens = sum(this.reasoningTokens, said["gen_ai.usage.reasoning.output_tokens"]);
    const cost = said["entelix.model.cost"];
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
