import { describe, isPromise } from "../../events/door.ts";
import { type RunSubject, type SubjectFields, subjectFields } from "../runtime/run-subject.ts";

/**
 * Asks an application's mapping whose run it is.
 *
 * @param ask calls the mapping; `undefined` where there is none.
 * @param above the subject of the run around it, for each field that the mapping does not give.
 * @param onError called with what the mapping threw, and with an error for what it gave that is no
 *   subject. Then `above` holds.
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

/** Its fields are checked one by one where they are read. */
function isSubject(given: unknown): given is RunSubject {
  return typeof given === "object" && given !== null && !Array.isArray(given) && !isPromise(given);
}
