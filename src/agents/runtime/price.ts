import {
  isPromise,
  type ModelCallUsage,
  readDecimal,
  roundedText,
  tellHook,
} from "../../events/door.ts";

/** A model call that ended, as a price hook receives it. */
export interface PricedCall {
  /** As `gen_ai.provider.name`: `openai`, `anthropic`, `aws.bedrock`, … */
  readonly provider: string | undefined;
  /** The model that was asked for. */
  readonly model: string | undefined;
  /** The model that answered. */
  readonly responseModel: string | undefined;
  /** The input tokens contain the cached ones, the output tokens those of reasoning. */
  readonly usage: ModelCallUsage;
}

/**
 * Gives the price of a model call in US dollars: a decimal text such as `"0.0031"`, which is added
 * exactly, or a number, which is rounded to 12 decimal places. `undefined`: not known.
 *
 * It is called once for each call that reported its usage. It must be synchronous. An error that it
 * throws, a promise, and anything but an amount from 0 go to `onError`. Then the cost is not known.
 *
 * @example
 * const price: Price = ({ model, usage }) =>
 *   model === "small-1" ? Number(usage.input_tokens ?? 0) * 2e-7 : undefined;
 */
export type Price = (call: PricedCall) => string | number | undefined;

/** Decimal places of a price that is a number. */
const MOST_PLACES = 12;
/** From here on `toFixed` writes an exponent. */
const LEAST_EXPONENT = 1e21;

/** What a call cost, as decimal text; `undefined` where nobody knows it. Never throws. */
export function costOf(
  price: Price | undefined,
  call: PricedCall,
  onError: ((error: unknown) => void) | undefined,
): string | undefined {
  if (price === undefined) return undefined;
  try {
    const given: unknown = price(call);
    if (given === undefined || given === null) return undefined;
    if (typeof given === "string" && readDecimal(given) !== undefined) return given;
    if (typeof given === "number" && given >= 0 && given < LEAST_EXPONENT)
      return roundedText(given, MOST_PLACES);
    if (isPromise(given)) {
      given.then(undefined, (error) => tellHook(onError, error));
      throw new TypeError("price: expected a decimal text or a number, got a promise");
    }
    throw new TypeError(`price: expected a decimal text or a number from 0, got ${shown(given)}`);
  } catch (error) {
    tellHook(onError, error);
    return undefined;
  }
}

/** Whether a cost is zero, which nobody believes without being told that it is known. */
export function isZeroCost(cost: string): boolean {
  return readDecimal(cost)?.digits === 0n;
}

function shown(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.slice(0, 100));
  return typeof given === "number" ? String(given) : typeof given;
}
