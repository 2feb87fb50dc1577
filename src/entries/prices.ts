// `entelix-otel/prices`: costs by a list of prices, which is an optional package.

export type { Price, PricedCall } from "../agents/door.ts";
export {
  type ModelPrices,
  PRICE_LIST,
  type PriceList,
  type PricesOptions,
  prices,
} from "../agents/prices/door.ts";
export type { ModelCallUsage } from "../events/door.ts";
