import {
  type AnswerForm,
  answerOf,
  type ModelCallUsage,
  readDecimal,
  roundedText,
  soundUsage,
} from "../../events/door.ts";

/** An ended model call, as the price hook gets it. */
export interface PricedCall {
  /** As `gen_ai.provider.name`: `openai`, `anthropic`, `aws.bedrock`, … */
  readonly provider: string | undefined;
  /** The requested model. */
  readonly model: string | undefined;
  /** The model that answered. */
  readonly responseModel: string | undefined;
  /** Input tokens include cached tokens, output tokens include reasoning tokens. */
  readonly usage: ModelCallUsage;
}

/**
 * Returns the price of a model call in US dollars: a decimal text such as `"0.0031"`, which is added exactly, or a
 * number, which is rounded to 12 decimal places. `undefined`: not known.
 *
 * It is called once for each call that reported its usage, and must be synchronous. Its errors, and results other
 * than an amount from 0, go to `onError`. The cost is not known then.
 *
 * @example
 * const price: Price = ({ model, usage }) =>
 *   model === "small-1" ? Number(usage.input_tokens ?? 0) * 2e-7 : undefined;
 */
export type Price = (call: PricedCall) => string | number | undefined;

/** Decimal places for a price that is a number. */
const MOST_PLACES = 12;
/** From this value on, `toFixed` writes an exponent. */
const LEAST_EXPONENT = 1e21;

/** The cost of a call in US dollars, as decimal text. `undefined`: not known. Never throws. */
export function costOf(
  price: Price | undefined,
  { model, provider, responseModel, usage }: PricedCall,
  onError: ((error: unknown) => void) | undefined,
): string | undefined {
  if (price === undefined) return undefined;
  const asked = () => price({ provider, model, responseModel, usage: { ...soundUsage(usage) } });
  return answerOf(AMOUNT, asked, onError);
}

const AMOUNT: AnswerForm<string> = {
  option: "price",
  expected: "a decimal text or a number",
  read(given) {
    if (typeof given === "string" && readDecimal(given) !== undefined) return given;
    if (typeof given === "number" && given >= 0 && given < LEAST_EXPONENT)
      return roundedText(given, MOST_PLACES);
    throw new TypeError(`price: expected a decimal text or a number from 0, got ${shown(given)}`);
  },
};

function shown(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.slice(0, 100));
  return typeof given === "number" ? String(given) : typeof given;
}
