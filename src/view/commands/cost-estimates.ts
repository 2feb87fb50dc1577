import { CliError } from "../../cli/door.ts";
import { hasCode } from "../../events/door.ts";
import type { CostEstimates } from "../runs/estimates.ts";

/** For the help of the commands that show runs. */
export const PRICES_OPTION = {
  type: "boolean",
  about:
    "Estimate costs that the senders do not say, by the list of prices of @pydantic/genai-prices, which must be installed. The page shows its date.",
} as const;

/** Loaded only if it is asked for: its package is optional. */
const loadPrices = () => import("../../agents/prices/door.ts");

/**
 * The list of prices of `--prices`.
 *
 * @param load for tests.
 * @throws (rejects) CliError if its package is not installed.
 */
export async function costEstimates(
  wanted = false,
  load: () => Promise<{ readonly estimates: () => CostEstimates }> = loadPrices,
): Promise<CostEstimates | undefined> {
  if (!wanted) return undefined;
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
