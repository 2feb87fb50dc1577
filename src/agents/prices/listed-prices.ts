import { calcPrice, type PriceCalculation, type TieredPrices } from "@pydantic/genai-prices";
import { type Decimal, parseDecimal, roundedText, ZERO } from "../../events/door.ts";
import type { PricedCall } from "../runtime/door.ts";
import { exactCost, type Rate, type Rates } from "./exact-cost.ts";
import { namesOf } from "./model-names.ts";

/** Names of providers in the GenAI conventions that the list does not know. Other providers it finds by its rules. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["azure.ai.openai", "azure"],
  ["azure.ai.inference", "azure"],
  ["gcp.gen_ai", "google"],
  ["x_ai", "x-ai"],
]);

/** Without a name of the provider, models of these count: others do not sell them under the same name. */
const OWN_MODELS = new Set(["anthropic", "google", "openai"]);

/**
 * Parts of a price that the usage of a call can be counted by. Input that is audio or images counts as text. Searches
 * are not in the usage. A model with another part has no known cost: who knows how much of its output was audio?
 */
const KNOWN_PARTS = new Set([
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "requests_kcount",
  "web_searches_kcount",
  "storage_searches_kcount",
  "input_audio_mtok",
  "cache_audio_read_mtok",
  "input_image_mtok",
  "cache_image_read_mtok",
  "input_video_mtok",
]);

/** Models whose input or output is mostly not text. */
const NOT_TEXT = /audio|realtime|transcribe|whisper|voice|\btts\b|\blive\b|image/;

/** Models whose prices are remembered: a search in the list takes 0.1 to 0.3 ms. */
const MOST_KNOWN = 10_000;

/** Longer names of a model and its provider, in characters, are not in the list, and not remembered. */
const LONGEST_NAMES = 500;

/** Prices that are the same at any time, or all day, by provider and model. */
const known = new Map<string, Rates | undefined>();

/** The cost of a call by the list. `undefined`: not known. */
export function listedCost(call: PricedCall, at: Date): string | undefined {
  const { model, responseModel, usage } = call;
  const provider = PROVIDERS.get(call.provider ?? "") ?? call.provider;
  for (const name of namesOf(responseModel, model)) {
    const rates = ratesOf(provider, name, at);
    if (rates !== undefined) return exactCost(rates, usage);
  }
  return undefined;
}

function ratesOf(provider: string | undefined, model: string, at: Date): Rates | undefined {
  if (model.length + (provider?.length ?? 0) > LONGEST_NAMES) return undefined;
  const always = JSON.stringify([provider, model]);
  const thatDay = `${always} ${Math.floor(at.getTime() / 86_400_000)}`;
  for (const key of [always, thatDay]) if (known.has(key)) return known.get(key);
  const found = foundIn(provider, model, at);
  const rates = found === undefined ? undefined : ratesIn(found);
  const span = found === undefined ? "always" : validity(found);
  if (known.size >= MOST_KNOWN) known.clear();
  if (span !== "moment") known.set(span === "always" ? always : thatDay, rates);
  return rates;
}

function foundIn(
  provider: string | undefined,
  model: string,
  at: Date,
): PriceCalculation | undefined {
  // Without tokens: only the prices that hold at this time are asked for.
  const options = { timestamp: at, ...(provider === undefined ? {} : { providerId: provider }) };
  const found = calcPrice({}, model, options) ?? undefined;
  if (found === undefined || provider !== undefined) return found;
  return OWN_MODELS.has(found.provider.id) ? found : undefined;
}

/** How long the prices of a model hold: some have dates, or depend on the time of the day. */
function validity({ model }: PriceCalculation): "always" | "day" | "moment" {
  if (!Array.isArray(model.prices)) return "always";
  const isByHour = model.prices.some(({ constraint }) => constraint?.type === "time_of_date");
  return isByHour ? "moment" : "day";
}

/** `undefined`: the usage of a call does not say what the prices need. */
function ratesIn({ model, model_price: prices }: PriceCalculation): Rates | undefined {
  const parts = Object.keys(prices).filter((name) => prices[name] !== undefined);
  if (NOT_TEXT.test(model.id) || !parts.every((name) => KNOWN_PARTS.has(name))) return undefined;
  const input = rateOf(prices.input_mtok);
  if (input === undefined) return undefined;
  return {
    input,
    output: rateOf(prices.output_mtok),
    cacheRead: rateOf(prices.cache_read_mtok),
    cacheWrite: rateOf(prices.cache_write_mtok),
    call: perCall(prices.requests_kcount),
  };
}

function rateOf(price: number | TieredPrices | undefined): Rate | undefined {
  if (price === undefined) return undefined;
  if (typeof price === "number") return { base: exact(price), tiers: [] };
  return {
    base: exact(price.base),
    tiers: price.tiers.map((tier) => ({ above: tier.start, price: exact(tier.price) })),
  };
}

/** Prices of a thousand calls are numbers. */
function perCall(price: number | TieredPrices | undefined): Decimal {
  if (typeof price !== "number") return ZERO;
  const { digits, scale } = exact(price);
  return { digits, scale: scale + 3 };
}

/** A price as a decimal: its number has all digits that the list has. */
function exact(price: number): Decimal {
  return parseDecimal(roundedText(price, 12), "price");
}
