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
import { costOf, type Price } from "../runtime/door.ts";

/** Decimal places of a cost that the SDK gives as a number. */
const PLACES = 12;

/** Tokens of one model. As in the SDK, `input` excludes cached tokens. */
interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What a session used so far, as a result reports it. */
export interface Totals {
  readonly models: ReadonlyMap<string, Tokens>;
  readonly cost: number;
}

const NOTHING: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
export const NO_TOTALS: Totals = { models: new Map(), cost: 0 };

/** Usage of one prompt. Unknown figures are absent. */
export type PromptUsage = Omit<UsageSnapshot, "requests" | "tool_calls">;

/**
 * Computes the usage of each prompt. The SDK's totals include all prompts of a `query()`, and a resumed or forked
 * session continues the totals of its transcript.
 */
export class UsageDifference {
  /** `undefined`: not known. */
  #before: Totals | undefined;
  readonly #price: Price | undefined;
  readonly #onError: (error: unknown) => void;
  /** Whether another process may have continued the session since {@link #before}. */
  #mayBeStale: boolean;
  #costAtStart: number | undefined;

  /** @param before the totals before this `query()`. `undefined`: not known. */
  constructor(
    before: Totals | undefined,
    price: Price | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#before = before;
    this.#costAtStart = before?.cost;
    this.#mayBeStale = before !== NO_TOTALS;
    this.#price = price;
    this.#onError = onError;
  }

  /** The totals of the last result. `undefined`: not known. */
  get totals(): Totals | undefined {
    return this.#before;
  }

  /** The cost before this `query()`. `undefined`: not known. */
  get costAtStart(): number | undefined {
    return this.#costAtStart;
  }

  /** The SDK says which session it continues, so its totals may be known. */
  continues(before: Totals | undefined): void {
    if (this.#before !== undefined || !this.#mayBeStale) return;
    this.#before = before;
    this.#costAtStart = before?.cost;
  }

  /** The conversation was cleared. The SDK's totals restart at 0. */
  reset(): void {
    this.#before = NO_TOTALS;
    this.#mayBeStale = false;
  }

  /** @param isWhole whether the result's `usage` covers the whole prompt. It omits sub-agents and compaction. */
  take(result: Fields, isWhole: boolean): PromptUsage | undefined {
    const totals = totalsOf(result);
    const before = this.#before;
    const mainLoop = isWhole ? mainLoopOf(result) : undefined;
    if (totals === undefined) return mainLoop && usageOf(mainLoop);
    // A process that fails at its start, or crashes, reports zeros.
    if (totals.models.size === 0 && result.is_error === true) return undefined;
    const mayBeStale = this.#mayBeStale;
    this.#before = totals;
    this.#mayBeStale = false;
    if (before === undefined) return mainLoop && this.#ofOnlyModel(totals, mainLoop);
    const models = difference(totals, before);
    if (mayBeStale && mainLoop !== undefined && !hasUsed(models, mainLoop)) {
      return this.#ofOnlyModel(totals, mainLoop);
    }
    if (models === undefined) return undefined;
    const cost = this.#price === undefined ? costBetween(totals, before) : this.#priced(models);
    return withCost(usageOf(sumOf([...models.values()])), cost);
  }

  /** The main loop's tokens. Their cost is known if there is a price, and the session has used only one model. */
  #ofOnlyModel({ models }: Totals, mainLoop: Tokens): PromptUsage {
    const [model, ...others] = models.keys();
    const isOnly = model !== undefined && others.length === 0;
    const cost = isOnly ? this.#priced(new Map([[model, mainLoop]])) : undefined;
    return withCost(usageOf(mainLoop), cost);
  }

  /** The cost. `undefined` unless the prices of all used models are known. */
  #priced(models: ReadonlyMap<string, Tokens>): string | undefined {
    if (this.#price === undefined) return undefined;
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

function withCost(usage: PromptUsage, cost: string | undefined): PromptUsage {
  return cost === undefined ? usage : { ...usage, cost_usd: cost };
}

/** Whether a model used exactly these tokens. If none did, another process has used the session since. */
function hasUsed(models: ReadonlyMap<string, Tokens> | undefined, tokens: Tokens): boolean {
  for (const used of models?.values() ?? []) {
    const isSame = used.input === tokens.input && used.output === tokens.output;
    const isCached = used.cacheRead === tokens.cacheRead && used.cacheWrite === tokens.cacheWrite;
    if (isSame && isCached) return true;
  }
  return false;
}

function mainLoopOf(result: Fields): Tokens | undefined {
  const usage = fieldsOf(result.usage);
  const input = amountOf(usage?.input_tokens);
  const output = amountOf(usage?.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: amountOf(usage?.cache_read_input_tokens) ?? 0,
    cacheWrite: amountOf(usage?.cache_creation_input_tokens) ?? 0,
  };
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
