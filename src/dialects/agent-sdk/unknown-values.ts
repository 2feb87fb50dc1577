import type { AgentSdkEvent } from "./events.ts";
import type { TerminalReason } from "./values.ts";

const TIERS: ReadonlySet<string> = new Set(["Observe", "Confirm"]);
const LIMITS: ReadonlySet<string> = new Set(["total_tokens", "cost_usd"]);
/** `unknown` is upstream's own word for a reason that it did not know. */
const REASONS: ReadonlySet<string> = new Set([
  "completed",
  "user_cancel",
  "budget",
  "watchdog_stall",
  "provider_error",
  "parent_cancelled",
  "confirmation_rejected",
  "internal_error",
  "unknown",
]);
const ACCOUNT_REASONS: ReadonlySet<string> = new Set([
  "rate_limited",
  "authentication_failed",
  "refresh_failed",
  "unknown",
]);

/** An unknown value is quoted up to here, in UTF-16 units. */
const QUOTED_LENGTH = 60;
const NONE: readonly string[] = [];

/**
 * The values of closed sets that a newer agent added, as `field=value`. They stay in the event: none
 * of them decides whether a span opens or closes.
 */
export function unknownValuesOf(event: AgentSdkEvent): readonly string[] {
  switch (event.type) {
    case "tool_call_start":
      return unknownIn(TIERS, "tier", event.tier);
    case "budget_exceeded":
      return unknownIn(LIMITS, "limit", event.limit);
    case "error":
    case "cancelled":
      return unknownReason(event.reason);
    case "account_rotation":
    case "account_pool_exhausted":
      return unknownIn(ACCOUNT_REASONS, "reason", event.reason);
    default:
      return NONE;
  }
}

function unknownReason(reason: TerminalReason | null | undefined): readonly string[] {
  return reason == null ? NONE : unknownIn(REASONS, "reason.reason", reason.reason);
}

function unknownIn(known: ReadonlySet<string>, field: string, value: string): readonly string[] {
  return known.has(value) ? NONE : [`${field}=${value.slice(0, QUOTED_LENGTH)}`];
}
