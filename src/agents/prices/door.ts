// The door of `prices`: costs by a list of prices. It needs the optional package of the list.

export type { ModelPrices } from "./own-prices.ts";
export { PRICE_LIST, type PriceList } from "./price-list.ts";
export { estimates, type PricesOptions, prices } from "./prices.ts";
