import type { Complete } from "../agent-event.ts";
import { property } from "../errors/thrown.ts";
import type { EventDetails } from "../event-details.ts";
import { decimalText } from "../value-limits.ts";
import type { RunUsage } from "./signal.ts";

/** A cost of nothing, however many places it has. */
const NOTHING = /^-?0+(?:\.0*)?$/;

/**
 * What a run that completed has used. Its cost is left out where nobody knows it: senders that know no
 * prices say `"0"`, so that is a cost only where the event's details say so.
 */
export function usageOf(event: Complete, details: EventDetails | undefined): RunUsage | undefined {
  const usage = event.usage ?? undefined;
  // A program without types may give what throws when it is read. It must not lose the end.
  const cost = property(usage, "cost_usd");
  if (!isNothing(cost) || details?.cost_known === true) return usage;
  return { ...usage, cost_usd: null };
}

/** The cost of a model call as decimal text, where it is known. */
export function costIn(cost: unknown, details: EventDetails | undefined): string | undefined {
  if (isNothing(cost) && details?.cost_known !== true) return undefined;
  if (typeof cost === "bigint") return String(cost);
  if (typeof cost === "number") return Number.isFinite(cost) ? decimalText(cost) : undefined;
  return typeof cost === "string" && cost !== "" ? cost : undefined;
}

/** Programs without types give numbers, too. */
function isNothing(cost: unknown): boolean {
  return typeof cost === "string" ? NOTHING.test(cost) : cost === 0 || cost === 0n;
}
