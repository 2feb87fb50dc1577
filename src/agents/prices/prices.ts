import { checkEach, describe, type OptionChecks } from "../../events/door.ts";
import type { Price, PricedCall } from "../runtime/door.ts";
import { listedCost } from "./listed-prices.ts";
import { type ModelPrices, OwnPrices } from "./own-prices.ts";
import { priceListName } from "./price-list.ts";

/** Options of {@link prices}. */
export interface PricesOptions {
  /**
   * Your own prices, which come before those of the list: by the name of the model, or a function. A model that they do
   * not know has the price of the list. Default: none.
   */
  readonly own?: Readonly<Record<string, ModelPrices>> | Price | undefined;
}

/**
 * A `price` for `runAgent` and every adapter except MCP, by a list of prices: {@link PRICE_LIST}. Costs are estimates:
 * without discounts, batches, service tiers and paid tools. A model that is not in the list has no known cost, and no
 * `"0"`.
 *
 * @throws TypeError for a wrong option.
 *
 * @example
 * import { LangChainHandler } from "entelix-otel/langchain";
 * import { prices } from "entelix-otel/prices";
 *
 * const handler = new LangChainHandler({ sink, tenant: "acme", price: prices() });
 */
export function prices(options: PricesOptions = {}): Price {
  const { own } = checkEach<PricesOptions>(options, CHECKS);
  const first = ownPrice(own);
  return (call) => first?.(call) ?? listedCost(call, new Date());
}

/** Estimates for spans that were recorded before: the prices of their time. */
export function estimates(): {
  readonly name: string;
  costOf(call: PricedCall, at: Date): string | undefined;
} {
  return { name: priceListName(), costOf: listedCost };
}

function ownPrice(own: PricesOptions["own"]): Price | undefined {
  if (own === undefined || typeof own === "function") return own;
  const list = new OwnPrices(own);
  return (call) => list.costOf(call);
}

const CHECKS: OptionChecks<PricesOptions> = {
  own(given) {
    if (given === undefined || typeof given === "function") return;
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return;
    throw new TypeError(`own: expected prices by model, or a function, got ${describe(given)}`);
  },
};
