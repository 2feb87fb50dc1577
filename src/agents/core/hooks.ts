import { type AnswerForm, answerOf, handed } from "../../events/door.ts";
import { type RunSubject, type SubjectFields, subjectFields } from "../runtime/door.ts";
import { textOf } from "./narrow.ts";

type Trouble = (error: unknown) => void;

const TENANT: AnswerForm<string> = {
  option: "tenant",
  expected: "a text that is not empty",
  isRequired: true,
  read: textOf,
};

/** Errors of tenant functions. */
const refusals = new WeakSet<object>();

/** Whether an error says that a run has no tenant, so that it is not reported. */
export function isRefusal(error: unknown): boolean {
  return typeof error === "object" && error !== null && refusals.has(error);
}

/**
 * Resolves the option `tenant`. Never throws.
 *
 * @param refused called with the error of the function.
 * @param advice what to do if the function gives no tenant. Default: nothing is known.
 * @returns `undefined` if the tenant is not known.
 */
export function tenantOf<C extends object>(
  tenant: string | ((of: C) => string),
  of: C,
  refused: Trouble,
  advice = "",
): string | undefined {
  if (typeof tenant === "string") return tenant;
  return answerOf(
    TENANT,
    () => tenant(handed(of)),
    (error) => {
      const told = withAdvice(error, advice);
      if (typeof told === "object" && told !== null) refusals.add(told);
      refused(told);
    },
  );
}

/** An error of the function itself stays as it is. */
function withAdvice(error: unknown, advice: string): unknown {
  const isAnswer = error instanceof TypeError && error.message.startsWith("tenant: expected");
  return isAnswer && advice !== "" ? new TypeError(`${error.message}; ${advice}`) : error;
}

/** The tenant of a run that begins, or why it is not known. A paused run may still have it. */
export interface AskedTenant {
  readonly tenantId: string | undefined;
  readonly problem?: unknown;
}

/** Like {@link tenantOf}, but returns the error. */
export function askedTenant<C extends object>(
  tenant: string | ((of: C) => string),
  of: C,
  advice?: string,
): AskedTenant {
  let problem: unknown;
  const keep = (error: unknown) => {
    problem = error;
  };
  const tenantId = tenantOf(tenant, of, keep, advice);
  return { tenantId, problem };
}

const TEXT = { expected: "a text or nothing", read: textAnswer };
const THREAD: AnswerForm<string> = { option: "thread", ...TEXT };
const PERSON: AnswerForm<string> = { option: "decidedBy", ...TEXT };

function textAnswer(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}

/** The conversation that the application's hook names. Never throws. */
export function threadOf<C extends object>(
  thread: ((of: C) => string | undefined) | undefined,
  of: C,
  onError: Trouble,
): string | undefined {
  if (thread === undefined) return undefined;
  return answerOf(THREAD, () => thread(handed(of)), onError) || undefined;
}

/**
 * The subject of a run that the application's hook `context` gives. Never throws.
 *
 * @param ask calls the hook. `undefined`: no hook is set.
 * @param above the subject of the surrounding run. It fills fields that the hook does not give.
 * @param onError called with an error of the hook, and with a TypeError for an invalid subject. `above` is returned
 *    then.
 * @param isResumed whether the run resumes another one. Frameworks give the hook an empty list of tags then, which says
 *    nothing.
 */
export function askedSubject(
  ask: (() => unknown) | undefined,
  above: SubjectFields | undefined,
  onError: Trouble,
  isResumed = false,
): SubjectFields | undefined {
  if (ask === undefined) return above;
  const form: AnswerForm<SubjectFields> = {
    option: "context",
    expected: "an object or nothing",
    read(given) {
      if (!isSubject(given)) return undefined;
      const hasNoTags = isResumed && given.tags?.length === 0;
      return subjectFields(hasNoTags ? { ...given, tags: undefined } : given, above);
    },
  };
  return answerOf(form, ask, onError) ?? above;
}

/** `subjectFields` checks the fields. */
function isSubject(given: unknown): given is RunSubject {
  return typeof given === "object" && given !== null && !Array.isArray(given);
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
  onError: Trouble,
): string | undefined {
  if (hook === undefined) return undefined;
  return answerOf(PERSON, () => hook({ ...decision }, handed(metadata)), onError) || undefined;
}
