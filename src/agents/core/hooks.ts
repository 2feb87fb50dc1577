import { describe, isPromise } from "../../events/door.ts";
import { type RunSubject, type SubjectFields, subjectFields } from "../runtime/door.ts";
import { askedText } from "./common-options.ts";

/**
 * Calls the application's `context` hook to find the subject of a run. Never throws.
 *
 * @param ask calls the hook. `undefined`: no hook is set.
 * @param above the subject of the surrounding run. It fills fields that the hook does not give.
 * @param onError called with an error of the hook, and with a TypeError for an invalid subject. `above` is returned
 *    then.
 */
export function askedSubject(
  ask: (() => unknown) | undefined,
  above: SubjectFields | undefined,
  onError: (error: unknown) => void,
): SubjectFields | undefined {
  if (ask === undefined) return above;
  try {
    const given = ask();
    if (given === undefined || given === null) return above;
    if (isPromise(given)) given.then(undefined, onError);
    if (!isSubject(given)) {
      const got = isPromise(given) ? "a promise" : describe(given);
      throw new TypeError(`context: expected an object or nothing, got ${got}`);
    }
    return subjectFields(given, above);
  } catch (error) {
    onError(error);
    return above;
  }
}

/** `subjectFields` checks the fields. */
function isSubject(given: unknown): given is RunSubject {
  return typeof given === "object" && given !== null && !Array.isArray(given) && !isPromise(given);
}

/** A decision about a tool call, as the `decidedBy` hook gets it. */
export interface ToolDecision {
  readonly outcome: "approved" | "denied" | "edited" | "answered";
  readonly tool: string;
  readonly toolUseId: string;
  /** Content: the reason of a denial, or the answer that replaces the tool's result. */
  readonly reason: string;
}

/**
 * Returns the name or ID of the person who decided about a tool call: personal data. `undefined`: not known. Errors
 * go to `onError`.
 *
 * @param metadata of the invocation or the trace.
 */
export type DecidedBy = (
  decision: ToolDecision,
  metadata: Readonly<Record<string, unknown>>,
) => string | undefined;

/** The person that the application's hook names. Never throws. */
export function personOf(
  hook: DecidedBy | undefined,
  decision: ToolDecision,
  metadata: Readonly<Record<string, unknown>>,
  onError: (error: unknown) => void,
): string | undefined {
  return hook === undefined ? undefined : askedText(() => hook(decision, metadata), onError);
}
