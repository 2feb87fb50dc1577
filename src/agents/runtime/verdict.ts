import { type DecisionDetails, withoutAdded } from "../../events/door.ts";

/** The reason of a denial without one. */
const NO_REASON = "not approved";

/** A checked decision for its event. */
export interface Verdict {
  readonly approved: boolean;
  /** The reason of a denial. */
  readonly reason: string;
  readonly details: DecisionDetails;
  /** Content: the edited input. */
  readonly edited?: { readonly input: unknown } | undefined;
}

/**
 * Checks a decision. A call must never be made because an approver returned nothing.
 *
 * @param took time that the approver took, in ms.
 * @throws TypeError for a value that is not a decision.
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
          ? verdictIn(withoutAdded(decision), wait_ms)
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

/** `user` and `policy` are reserved words. Any other text names a person. */
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

/** A decision that takes longer than this, in ms, is reported as pending. */
export const LONG_WAIT_MS = 1_000;

/**
 * Waits for a decision, and reports it as pending after {@link LONG_WAIT_MS}: a person decides then, not a rule.
 *
 * @param report called if the decision takes that long. It must not throw.
 */
export async function reportLongWait<T>(decision: Promise<T>, report: () => void): Promise<T> {
  const timer = setTimeout(report, LONG_WAIT_MS);
  timer.unref();
  try {
    return await decision;
  } finally {
    clearTimeout(timer);
  }
}
