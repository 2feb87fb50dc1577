import type { UsageSnapshot } from "./agent-event.ts";
import { count, type Form, nullish, type Optional, textWhere, value } from "./forms.ts";
import { record } from "./object-forms.ts";
import { isCount } from "./option-checks.ts";

/** A whole number that fits into a double. */
export const wholeNumber: Form<number> = value("a whole number from 0 below 2^53", isCount);

/** US dollars that are known. */
export const cost = textWhere('a decimal number as text, such as "0.30"', (given) =>
  /^-?\d+(?:\.\d+)?$/.test(given),
);

/** US dollars. */
export const knownCost: Optional<string | null> = nullish(cost, `${cost.expected}, or null`);

/** A number of tokens. */
export const tokens: Optional<number | bigint | null> = nullish(count, count.expected);

/** What a run used. */
export const usageForm: Form<UsageSnapshot> = record(
  {
    requests: wholeNumber,
    input_tokens: count,
    output_tokens: count,
    tool_calls: wholeNumber,
    cost_usd: knownCost,
    cache_read_input_tokens: tokens,
    cache_write_input_tokens: tokens,
  },
  "a usage object",
);
