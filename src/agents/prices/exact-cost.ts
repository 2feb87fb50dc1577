import {
  addDecimals,
  type Decimal,
  formatDecimal,
  isGreater,
  type ModelCallUsage,
  ZERO,
} from "../../events/door.ts";

/** A price of a million tokens, in US dollars. */
export interface Rate {
  readonly base: Decimal;
  /** Prices of calls with more input tokens than `above`, in ascending order. They hold for all tokens of the call. */
  readonly tiers: readonly { readonly above: number; readonly price: Decimal }[];
}

/** The prices of a model. */
export interface Rates {
  readonly input: Rate;
  /** `undefined`: the model has no output, as one that only embeds. */
  readonly output: Rate | undefined;
  /** `undefined`: such tokens have the price of input. */
  readonly cacheRead: Rate | undefined;
  readonly cacheWrite: Rate | undefined;
  /** Price of each call, beside its tokens. */
  readonly call: Decimal;
}

/** The price of a million tokens is that of one token with six more decimal places. */
const PLACES_OF_MILLION = 6;

/**
 * The exact cost of a call in US dollars, as decimal text. `undefined`: a number of tokens that the prices need is not
 * known or not an integer, or more tokens are from a cache than there are.
 */
export function exactCost(rates: Rates, usage: ModelCallUsage): string | undefined {
  const { input_tokens: input, output_tokens: output } = usage;
  if (input === undefined || input === null) return undefined;
  const counts = [input, output, usage.cache_read_input_tokens, usage.cache_write_input_tokens];
  if (counts.some((count) => typeof count === "number" && !Number.isInteger(count))) {
    return undefined;
  }
  const hasOutput = output !== undefined && output !== null;
  if (rates.output === undefined ? hasOutput && Number(output) > 0 : !hasOutput) return undefined;
  const read = BigInt(usage.cache_read_input_tokens ?? 0);
  const write = BigInt(usage.cache_write_input_tokens ?? 0);
  const fresh = BigInt(input) - read - write;
  if (fresh < 0n) return undefined;
  const cost = (rate: Rate | undefined, tokens: bigint) =>
    rate === undefined ? ZERO : times(priceIn(rate, Number(input)), tokens);
  const parts = [
    cost(rates.input, fresh),
    cost(rates.cacheRead ?? rates.input, read),
    cost(rates.cacheWrite ?? rates.input, write),
    cost(rates.output, BigInt(output ?? 0)),
    rates.call,
  ];
  return shortText(parts.reduce(addDecimals, ZERO));
}

function priceIn({ base, tiers }: Rate, input: number): Decimal {
  return tiers.findLast(({ above }) => input > above)?.price ?? base;
}

function times({ digits, scale }: Decimal, tokens: bigint): Decimal {
  return { digits: digits * tokens, scale: scale + PLACES_OF_MILLION };
}

/** Without zeros at its end. */
function shortText(cost: Decimal): string {
  if (!isGreater(cost, ZERO)) return "0";
  let { digits, scale } = cost;
  while (scale > 0 && digits % 10n === 0n) {
    digits /= 10n;
    scale -= 1;
  }
  return formatDecimal({ digits, scale });
}
