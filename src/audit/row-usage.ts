import { cost, count, decimalText, property, type RunUsage, wholeNumber } from "../events/door.ts";
import type { RowUsage } from "./wire/own-event.ts";

const CALLS = ["requests", "tool_calls"] as const;
const TOKENS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_write_input_tokens",
] as const;

/** The known figures of a run's usage. `undefined` if none is known. */
export function rowUsage(usage: RunUsage | undefined): RowUsage | undefined {
  if (usage === undefined) return undefined;
  const known: { -readonly [Name in keyof RowUsage]: RowUsage[Name] } = {};
  for (const name of CALLS) {
    const calls = property(usage, name);
    if (wholeNumber.fits(calls)) known[name] = calls;
  }
  for (const name of TOKENS) {
    const tokens = property(usage, name);
    if (count.fits(tokens)) known[name] = tokens;
  }
  const given: unknown = property(usage, "cost_usd");
  const isNumber =
    typeof given === "bigint" || (typeof given === "number" && Number.isFinite(given));
  const text: unknown = isNumber ? decimalText(given) : given;
  if (cost.fits(text)) known.cost_usd = text;
  return Object.keys(known).length === 0 ? undefined : known;
}
