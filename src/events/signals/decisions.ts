import type { DecisionDetails, EventDetails } from "../event-details.ts";
import { MOST_INT } from "../value-limits.ts";

/**
 * What the details of an approval or a denial say of the decision. What is not what it should be counts
 * as absent: senders in plain JavaScript are not held to the types.
 *
 * @param told what the event itself says. `undefined` where there are no details of a decision.
 */
export function decisionIn(
  details: EventDetails | undefined,
  told: "approved" | "denied",
): DecisionDetails | undefined {
  const given: Loose | null | undefined = details?.decision;
  if (typeof given !== "object" || given === null) return undefined;
  const { by, outcome, person, proposed_input, reason, wait_ms } = given;
  const other = told === "approved" ? "edited" : "answered";
  return {
    outcome: outcome === other ? other : told,
    ...(by === "user" || by === "policy" ? { by } : {}),
    ...(typeof person === "string" && person !== "" ? { person } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isWait(wait_ms) ? { wait_ms } : {}),
    ...(proposed_input === undefined ? {} : { proposed_input }),
  };
}

type Loose = { readonly [K in keyof DecisionDetails]?: unknown };

function isWait(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MOST_INT;
}
