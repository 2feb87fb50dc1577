import { type Decimal, describe, parseDecimal, ZERO } from "../../events/door.ts";
import type { PricedCall } from "../runtime/door.ts";
import { exactCost, type Rate, type Rates } from "./exact-cost.ts";
import { namesOf } from "./model-names.ts";

/** Prices of a model: US dollars for a million tokens, as decimal text such as `"0.15"`. */
export interface ModelPrices {
  /** Input tokens. */
  readonly input: string;
  /** Output tokens, with those of reasoning. Default: the model has no output, as one that only embeds. */
  readonly output?: string | undefined;
  /** Input tokens that were read from a cache. Default: the price of input. */
  readonly cacheRead?: string | undefined;
  /** Input tokens that were written to a cache. Default: the price of input. */
  readonly cacheWrite?: string | undefined;
}

/** Prices that the application gives, by the name of the model. */
export class OwnPrices {
  readonly #models = new Map<string, Rates>();

  /**
   * @param models their {@link ModelPrices}. They are checked.
   * @param field name of `models` in errors.
   * @throws TypeError naming the model and the price that is not a decimal text.
   */
  constructor(models: Readonly<Record<string, unknown>>, field = "own") {
    for (const [model, given] of Object.entries(models)) {
      const place = `${field}[${JSON.stringify(model)}]`;
      if (!isObject(given)) {
        throw new TypeError(`${place}: expected an object, got ${describe(given)}`);
      }
      const rate = (name: "output" | "cacheRead" | "cacheWrite") => {
        const text = given[name];
        return text === undefined ? undefined : flat(parseDecimal(text, `${place}.${name}`));
      };
      this.#models.set(model, {
        input: flat(parseDecimal(given.input, `${place}.input`)),
        output: rate("output"),
        cacheRead: rate("cacheRead"),
        cacheWrite: rate("cacheWrite"),
        call: ZERO,
      });
    }
  }

  /** `undefined`: the model is not in the list, or the tokens are not known. */
  costOf({ model, responseModel, usage }: PricedCall): string | undefined {
    for (const name of namesOf(responseModel, model)) {
      const rates = this.#models.get(name);
      if (rates !== undefined) return exactCost(rates, usage);
    }
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<keyof ModelPrices, unknown>> {
  return typeof value === "object" && value !== null;
}

function flat(base: Decimal): Rate {
  return { base, tiers: [] };
}
