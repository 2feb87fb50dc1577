import { CliError } from "../../cli/door.ts";
import { hasCode } from "../../events/door.ts";
import type { CostEstimates } from "../runs/estimates.ts";
import { ownPriceList } from "./own-price-list.ts";

/** Options about costs, for the commands that show runs. */
export const PRICES_OPTIONS = {
  prices: {
    type: "boolean",
    about:
      "Estimate costs that the senders do not say, by the prices of @pydantic/genai-prices, which must be installed.",
  },
  "own-prices": {
    type: "string",
    value: "FILE",
    about:
      "The same by your own list of prices, a file of JSON. With both options, it comes first.",
  },
} as const;

interface PricesValues {
  readonly prices?: boolean | undefined;
  readonly "own-prices"?: string | undefined;
}

/** Loaded only if it is asked for: its package is optional. */
const loadPrices = () => import("../../agents/prices/door.ts");

/**
 * The estimates of `--prices` and `--own-prices`.
 *
 * @param load for tests.
 * @throws (rejects) CliError if the package of `--prices` is not installed, or for a wrong file of own prices.
 */
export async function costEstimates(
  { "own-prices": path, prices = false }: PricesValues,
  load: () => Promise<{ readonly estimates: () => CostEstimates }> = loadPrices,
): Promise<CostEstimates | undefined> {
  const own = path === undefined ? undefined : await ownPriceList(path);
  const listed = prices ? await listedPrices(load) : undefined;
  if (own === undefined || listed === undefined) return own ?? listed;
  return {
    name: `${own.name}, and ${listed.name}`,
    costOf: (call, at) => own.costOf(call, at) ?? listed.costOf(call, at),
  };
}

async function listedPrices(
  load: () => Promise<{ readonly estimates: () => CostEstimates }>,
): Promise<CostEstimates> {
  try {
    const { estimates } = await load();
    return estimates();
  } catch (error) {
    if (!hasCode(error, "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")) throw error;
    throw new CliError(
      "--prices: @pydantic/genai-prices is not installed",
      "Run: npm install @pydantic/genai-prices",
      { cause: error },
    );
  }
}
