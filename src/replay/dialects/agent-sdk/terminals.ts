import {
  decimalText,
  type FailureKind,
  numberOf,
  type RunEnd,
  type RunUsage,
  type SignalAttributes,
  soundUsage,
} from "../../../events/door.ts";
import type {
  AgentSdkEvent,
  BudgetExceeded,
  Cancelled,
  Count,
  Done,
  ErrorEvent,
  Refusal,
  TokenUsage,
} from "./events.ts";
import type { Totals } from "./run-totals.ts";

/** A failure kind without further fields. */
type PlainKind = Exclude<FailureKind["type"], "tool_error_terminal">;

/** The outcome of a run. */
export type Terminal = "complete" | "refused" | "interrupted" | PlainKind;

/**
 * The outcome of each terminal event in the failure taxonomy. A terminal without an exact counterpart is
 * `unclassified`. A test compares the table in `docs/dialects.md` with this one.
 */
export const TERMINALS = {
  done: "complete",
  refusal: "refused",
  cancelled: "cancelled",
  budget_exceeded: "usage_limit_exceeded",
  tool_requires_confirmation: "interrupted",
  question_asked: "interrupted",
  /** Right after an `auto_retry_end` without success, for any reason. */
  "error after the retries were used up": "model_dispatch",
  "error: user_cancel": "cancelled",
  "error: parent_cancelled": "cancelled",
  "error: budget": "usage_limit_exceeded",
  "error: provider_error": "model_dispatch",
  "error: internal_error": "internal",
  "error: watchdog_stall": "unclassified",
  "error: confirmation_rejected": "unclassified",
  "error: completed": "unclassified",
  "error: unknown": "unclassified",
  /** Agents before 0.14 give no reason. */
  error: "unclassified",
} as const satisfies Record<string, Terminal>;

const ERRORS: ReadonlyMap<string, Terminal> = new Map(Object.entries(TERMINALS));

/** An event that ends its run, or may end it. */
export type TerminalEvent = Done | Refusal | Cancelled | BudgetExceeded | ErrorEvent;

const TERMINAL_EVENTS: ReadonlySet<string> = new Set<TerminalEvent["type"]>([
  "done",
  "refusal",
  "cancelled",
  "budget_exceeded",
  "error",
]);

/** Whether the event ends its run, or may end it. */
export function isTerminal({ type }: AgentSdkEvent): boolean {
  return TERMINAL_EVENTS.has(type);
}

/** The end that the event states. */
export function endOf(event: TerminalEvent, retriesUsedUp: boolean): RunEnd {
  switch (event.type) {
    case "done": {
      const { total_usage: usage, total_turns: turns, estimated_cost_usd: cost } = event;
      return completed({ usage, turns, cost });
    }
    case "refusal":
      // The text of a refusal comes from the model, so it is content.
      return { outcome: TERMINALS.refusal };
    case "cancelled": {
      const reason = event.reason?.reason;
      const message = reason === undefined ? "run cancelled" : `run cancelled (${reason})`;
      const kind = { type: TERMINALS.cancelled };
      return { outcome: "failed", kind, message, ...endOfTurns(event.usage, event.turn, reason) };
    }
    case "budget_exceeded":
      return budgetEnd(event);
    case "error": {
      const attributes: SignalAttributes = { "entelix.run.end_reason": event.reason?.reason };
      const kind = { type: errorKind(event, retriesUsedUp) };
      return { outcome: "failed", kind, message: event.message, attributes };
    }
    default:
      return event satisfies never;
  }
}

/** The end of a run that completed. */
export function completed({ usage, turns, cost }: Totals): RunEnd {
  return { outcome: TERMINALS.done, ...endOfTurns(usage, turns, undefined, cost) };
}

function budgetEnd(event: BudgetExceeded): RunEnd {
  const { estimated_cost_usd: cost, limit, total_turns: turns, total_usage: usage } = event;
  return {
    outcome: "failed",
    kind: { type: TERMINALS.budget_exceeded },
    message: `budget exceeded: ${limit}`,
    ...endOfTurns(usage, turns, limit, cost),
  };
}

function errorKind(event: ErrorEvent, retriesUsedUp: boolean): PlainKind {
  if (retriesUsedUp) return TERMINALS["error after the retries were used up"];
  const known = ERRORS.get(`error: ${event.reason?.reason}`);
  return known === undefined || !isPlainKind(known) ? TERMINALS.error : known;
}

function isPlainKind(terminal: Terminal): terminal is PlainKind {
  return terminal !== "complete" && terminal !== "refused" && terminal !== "interrupted";
}

/** What a run used. This runtime does not count requests. */
function endOfTurns(given: TokenUsage, turns: Count, reason?: string, cost?: Count | null) {
  const known = isKnown(cost) ? { cost_usd: decimalText(cost) } : {};
  const usage: RunUsage = soundUsage({ ...usageOf(given), ...known });
  const attributes: SignalAttributes = {
    "entelix.run.turns": numberOf(turns),
    "entelix.run.end_reason": reason,
  };
  return { usage, attributes };
}

/** The usage in the conventions' words. */
export function usageOf(usage: TokenUsage) {
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cached_input_tokens ?? null,
    cache_write_input_tokens: usage.cache_creation_input_tokens ?? null,
  };
}

/** This runtime reports 0 if it knows no prices. */
function isKnown(cost: number | bigint | null | undefined): cost is number | bigint {
  return cost !== null && cost !== undefined && Number(cost) !== 0;
}
