import type { BudgetBreach, UsageLimitBreach } from "./errors/agent-error-detail.ts";
import { type Form, textWhere, value } from "./forms.ts";
import { record, tagged } from "./object-forms.ts";
import { isCount, isWholeNumber } from "./option-checks.ts";

/** A whole number within Rust's `u64`. */
export const u64 = value(
  `a whole number from 0 to ${2n ** 64n - 1n}`,
  (given): given is number | bigint => isWholeNumber(given) && given < 2n ** 64n,
);

const decimal = textWhere("a decimal number as a string", (given) => /^-?\d+(\.\d+)?$/.test(given));
const counted = record({ limit: u64, observed: u64 });

const AXES = {
  requests: counted,
  input_tokens: counted,
  output_tokens: counted,
  total_tokens: counted,
  tool_calls: counted,
  cost_usd: record({ limit: decimal, observed: decimal }),
};

/** The limit of a budget that was exceeded, in audit rows. Their axes are entelix's. */
export const breachForm = tagged("axis", AXES) satisfies Form<BudgetBreach>;

const count = value("a whole number from 0", isCount);

/** The limit that a run exceeded, in the envelope of a failed run. */
export const limitBreachForm = tagged("axis", {
  ...AXES,
  tool_loop: record({ limit: count, observed: count }),
}) satisfies Form<UsageLimitBreach>;
