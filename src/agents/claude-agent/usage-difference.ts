import {
  addDecimals,
  type Decimal,
  formatDecimal,
  type ModelCallUsage,
  readDecimal,
  roundedText,
  type UsageSnapshot,
} from "../../events/door.ts";
import { type Fields, fieldsOf } from "../core/door.ts";
import { costOf, isZeroCost, type Price } from "../runtime/door.ts";

/** Decimal places of a cost that the SDK gives as a number. */
const PLACES = 12;

/** Tokens of one model. As in the SDK, `input` excludes cached tokens. */
interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

interface Totals {
  readonly models: ReadonlyMap<string, Tokens>;
  readonly cost: number;
}

const NOTHING: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const NO_TOTALS: Totals = { models: new Map(), cost: 0 };

/** Usage of one prompt. Unknown figures are absent. */
export type PromptUsage = Omit<UsageSnapshot, "requests" | "tool_calls">;

/**
 * Computes the usage of each prompt. The SDK's totals include all prompts of a `query()`, and a resumed or forked
 * session continues earlier totals, which only its transcript has.
 */
export class UsageDifference {
  /** `undefined`: not known. */
  #before: Totals | undefined;
  readonly #price: Price | undefined;
  readonly #onError: (error: unknown) => void;

  /** @param isNew whether the session starts with this `query()`. */
  constructor(isNew: boolean, price: Price | undefined, onError: (error: unknown) => void) {
    this.#before = isNew ? NO_TOTALS : undefined;
    this.#price = price;
    this.#onError = onError;
  }

  /** The conversation was cleared. The SDK's totals restart at 0. */
  reset(): void {
    this.#before = NO_TOTALS;
  }

  /** @param isWhole whether the result's `usage` covers the whole prompt. It omits sub-agents and compaction. */
  take(result: Fields, isWhole: boolean): PromptUsage | undefined {
    const totals = totalsOf(result);
    const before = this.#before;
    if (totals === undefined) return isWhole ? ofMainLoop(result) : undefined;
    // A process that fails at its start, or crashes, reports zeros.
    const isZeroed = totals.models.size === 0 && before !== undefined && before.models.size > 0;
    if (isZeroed && result.is_error === true) return undefined;
    this.#before = totals;
    if (before === undefined) return isWhole ? ofMainLoop(result) : undefined;
    const models = difference(totals, before);
    if (models === undefined) return undefined;
    const cost = this.#price === undefined ? costBetween(totals, before) : this.#priced(models);
    return {
      ...usageOf(sumOf([...models.values()])),
      ...(cost === undefined ? {} : { cost_usd: cost }),
    };
  }

  /** The cost. `undefined` unless the prices of all used models are known. */
  #priced(models: ReadonlyMap<string, Tokens>): string | undefined {
    let sum: Decimal | undefined;
    for (const [model, tokens] of models) {
      if (tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite === 0) continue;
      const usage: ModelCallUsage = usageOf(tokens);
      const call = { provider: "anthropic", model, responseModel: model, usage };
      const cost = costOf(this.#price, call, this.#onError);
      const more = cost === undefined ? undefined : readDecimal(cost);
      if (more === undefined) return undefined;
      sum = sum === undefined ? more : addDecimals(sum, more);
    }
    return sum === undefined ? undefined : formatDecimal(sum);
  }
}

/** Whether the cost is known and zero. */
export function costIsZero(usage: PromptUsage | undefined): boolean {
  const cost = usage?.cost_usd;
  return typeof cost === "string" && isZeroCost(cost);
}

function totalsOf(result: Fields): Totals | undefined {
  const given = fieldsOf(result.modelUsage);
  const cost = amountOf(result.total_cost_usd);
  if (given === undefined || cost === undefined) return undefined;
  const models = new Map<string, Tokens>();
  for (const [model, value] of Object.entries(given)) {
    const fields = fieldsOf(value);
    models.set(model, {
      input: amountOf(fields?.inputTokens) ?? 0,
      output: amountOf(fields?.outputTokens) ?? 0,
      cacheRead: amountOf(fields?.cacheReadInputTokens) ?? 0,
      cacheWrite: amountOf(fields?.cacheCreationInputTokens) ?? 0,
    });
  }
  return { models, cost };
}

/** Usage since the last totals. `undefined` if a figure decreased: the totals restarted without a message. */
function difference(after: Totals, before: Totals): ReadonlyMap<string, Tokens> | undefined {
  for (const model of before.models.keys()) if (!after.models.has(model)) return undefined;
  const models = new Map<string, Tokens>();
  for (const [model, now] of after.models) {
    const was = before.models.get(model) ?? NOTHING;
    const used = {
      input: now.input - was.input,
      output: now.output - was.output,
      cacheRead: now.cacheRead - was.cacheRead,
      cacheWrite: now.cacheWrite - was.cacheWrite,
    };
    if (Object.values(used).some((count) => count < 0)) return undefined;
    models.set(model, used);
  }
  return models;
}

function sumOf(models: readonly Tokens[]): Tokens {
  let { input, output, cacheRead, cacheWrite } = NOTHING;
  for (const model of models) {
    input += model.input;
    output += model.output;
    cacheRead += model.cacheRead;
    cacheWrite += model.cacheWrite;
  }
  return { input, output, cacheRead, cacheWrite };
}

/** Usage as in the conventions: input includes tokens read from the cache or written to it. */
function usageOf({ cacheRead, cacheWrite, input, output }: Tokens) {
  return {
    input_tokens: input + cacheRead + cacheWrite,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_write_input_tokens: cacheWrite,
  };
}

function ofMainLoop(result: Fields): PromptUsage | undefined {
  const usage = fieldsOf(result.usage);
  const input = amountOf(usage?.input_tokens);
  const output = amountOf(usage?.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  return usageOf({
    input,
    output,
    cacheRead: amountOf(usage?.cache_read_input_tokens) ?? 0,
    cacheWrite: amountOf(usage?.cache_creation_input_tokens) ?? 0,
  });
}

function costBetween(after: Totals, before: Totals): string | undefined {
  const cost = after.cost - before.cost;
  return cost < 0 ? undefined : decimalOf(cost);
}

/** A cost as decimal text, rounded to remove floating-point noise. */
export function decimalOf(cost: number): string {
  return roundedText(cost, PLACES);
}

/** A finite number from 0. */
export function amountOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : undefined;
}
