import type { DecisionDetails } from "../../events/door.ts";

/** What a denial says that has no reason. */
const NO_REASON = "not approved";

/** A decision that was made, as its event has it. */
export interface Verdict {
  readonly approved: boolean;
  /** Of a denial. */
  readonly reason: string;
  readonly details: DecisionDetails;
  /** What the approver made of the input. */
  readonly edited?: { readonly input: unknown } | undefined;
}

/**
 * The decision, checked: a call must never be made because an approver forgot to answer.
 *
 * @param took how long the approver took, in ms.
 * @throws TypeError for an answer that is no decision.
 */
export function verdictOf(decision: unknown, took: number): Verdict | "exempt" | "external" {
  const wait_ms = Math.round(took);
  switch (decision) {
    case "exempt":
    case "external":
      return decision;
    case "approved":
      return { approved: true, reason: "", details: { outcome: "approved", wait_ms } };
    default:
      return (
        (typeof decision === "object" && decision !== null
          ? verdictIn(decision, wait_ms)
          : undefined) ?? fail(decision)
      );
  }
}

function verdictIn(given: object, took: number): Verdict | undefined {
  if ("denied" in given && typeof given.denied === "string") {
    return denial(given.denied, { wait_ms: took });
  }
  if (!("approved" in given) || typeof given.approved !== "boolean") return undefined;
  const nothing = { by: undefined, input: undefined, reason: undefined, waitMs: undefined };
  const { by, input, reason, waitMs } = { ...nothing, ...given };
  const details = { ...byWhom(by), wait_ms: waitIn(waitMs) ?? took };
  const why = textIn(reason, "reason");
  if (!given.approved) return denial(why || NO_REASON, details);
  const known = { ...details, ...(why === undefined ? {} : { reason: why }) };
  if (input === undefined) {
    return { approved: true, reason: "", details: { outcome: "approved", ...known } };
  }
  const edited = { input };
  return { approved: true, reason: "", details: { outcome: "edited", ...known }, edited };
}

function denial(reason: string, details: DecisionDetails): Verdict {
  return { approved: false, reason, details: { outcome: "denied", ...details } };
}

/** The words `user` and `policy` mean just that; any other text is a person. */
function byWhom(given: unknown): DecisionDetails {
  const by = textIn(given, "by") || undefined;
  if (by === undefined) return {};
  return by === "user" || by === "policy" ? { by } : { by: "user", person: by };
}

function textIn(value: unknown, field: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError(`approve: expected ${field} to be a text, got ${typeof value}`);
}

function waitIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= 0 && Number.isFinite(value)) return Math.round(value);
  const got = typeof value === "number" ? value : typeof value;
  throw new TypeError(`approve: expected waitMs to be milliseconds from 0, got ${got}`);
}

function fail(decision: unknown): never {
  throw new TypeError(
    'approve: expected "approved", "exempt", "external", { denied: reason } or ' +
      "{ approved, by, reason }, got " +
      (typeof decision === "string" ? JSON.stringify(decision.slice(0, 100)) : typeof decision),
  );
}
