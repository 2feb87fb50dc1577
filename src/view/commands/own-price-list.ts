import { readFile } from "node:fs/promises";
import { CliError, messageOf, safe } from "../../cli/door.ts";
import { readTimestamp } from "../../events/door.ts";
import { fieldsOf, fieldText } from "../model/attributes.ts";
import type { CostEstimates } from "../runs/estimates.ts";

const HINT =
  'Expected JSON such as {"date": "2026-11-01", "models": {"gpt-4o": {"input": "2.25", "output": "9"}}}, in US dollars for a million tokens.';

/**
 * Estimates by the user's own list of prices, a file of JSON. Models that it does not have have no known cost.
 *
 * @throws (rejects) CliError if the file can't be read, or has another form. The error names the field.
 */
export async function ownPriceList(path: string): Promise<CostEstimates> {
  // Not through the door of the prices, which needs an optional package.
  const { OwnPrices } = await import("../../agents/prices/own-prices.ts");
  try {
    const { date, models } = listIn(await readFile(path, "utf8"));
    const prices = new OwnPrices(models, "models");
    return { name: `own prices of ${date}`, costOf: (call) => prices.costOf(call) };
  } catch (error) {
    const problem = `--own-prices: ${safe(path)}: ${safe(messageOf(error))}`;
    throw new CliError(problem, HINT, { cause: error });
  }
}

/** The date of a list, and its prices by model, which are not checked yet. */
function listIn(text: string): { date: string; models: Readonly<Record<string, unknown>> } {
  const list: unknown = JSON.parse(text);
  const date = fieldText(list, "date") ?? "";
  // `Date.parse` takes days that a month does not have.
  if (readTimestamp(`${date}T00:00:00Z`) === undefined) {
    throw new TypeError('date: expected the day of the prices, such as "2026-11-01"');
  }
  const models = fieldsOf(fieldsOf(list)?.models);
  if (models === undefined) throw new TypeError("models: expected an object, by names of models");
  for (const [model, prices] of Object.entries(models)) {
    const unknown = Object.keys(fieldsOf(prices) ?? {}).find((name) => !PRICES.includes(name));
    if (unknown === undefined) continue;
    const field = `models[${JSON.stringify(model)}].${unknown}`;
    throw new TypeError(`${field}: expected one of ${PRICES.join(", ")}`);
  }
  return { date, models };
}

const PRICES: readonly string[] = ["input", "output", "cacheRead", "cacheWrite"];
