// Functions that users give: hooks in options. Untyped programs may give any function: it may throw, return a promise
// or a value of another type, or change its arguments. None of this may reach the agent, or end the process.

import { describe } from "./option-checks.ts";
import { isPromise } from "./promises.ts";

/** The answers that count, of the function in an option. */
export interface AnswerForm<T> {
  /** Name of the option. */
  readonly option: string;
  /** The valid answers, for the error: `a text`. */
  readonly expected: string;
  /** Whether `undefined` and `null` are wrong, too. Otherwise the function may return nothing. */
  readonly isRequired?: boolean | undefined;
  /** The answer, `undefined` for an invalid one. It may throw an error that says more. */
  readonly read: (given: unknown) => T | undefined;
}

/** The answer of a function that must return true or false. */
export function yesOrNo(option: string): AnswerForm<boolean> {
  const read = (given: unknown) => (typeof given === "boolean" ? given : undefined);
  return { option, expected: "true or false", isRequired: true, read };
}

/**
 * The answer of a user's function. An invalid answer counts as `undefined`: another type, a promise, an error. Never
 * throws.
 *
 * @param ask calls the function. It gets no `this`, and arguments that it may change ({@link handed}).
 * @param onError called once for an invalid answer. Its own errors are ignored.
 */
export function answerOf<T>(
  { expected, isRequired, option, read }: AnswerForm<T>,
  ask: () => unknown,
  onError: ((error: unknown) => void) | undefined,
): T | undefined {
  try {
    const given = ask();
    if ((given === undefined || given === null) && isRequired !== true) return undefined;
    const isLater = isPromise(given);
    if (isLater) ignoreOutcome(given);
    const answer = isLater ? undefined : read(given);
    if (answer !== undefined) return answer;
    const got = isLater ? "a promise" : describe(given);
    throw new TypeError(`${option}: expected ${expected}, got ${got}`);
  } catch (error) {
    callErrorHook(onError, error);
    return undefined;
  }
}

/** The rejection of a promise that does not count must not end the process. */
function ignoreOutcome(promise: PromiseLike<unknown>): void {
  promise.then(undefined, () => {});
}

/**
 * Calls a user's function whose answer does not count. Never throws.
 *
 * @param onError called with its error or rejection. Default: these are ignored.
 */
export function callHook(call: () => unknown, onError?: (error: unknown) => void): void {
  try {
    const given = call();
    if (isPromise(given)) given.then(undefined, (error) => callErrorHook(onError, error));
  } catch (error) {
    callErrorHook(onError, error);
  }
}

/** The hooks that are being called. */
const running = new WeakSet<object>();

/**
 * Calls a hook with an error. Errors and rejections of the hook are ignored. So are errors that arise while the hook
 * runs: it would call itself without end.
 */
export function callErrorHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  if (hook === undefined || running.has(hook)) return;
  running.add(hook);
  try {
    callHook(() => hook(error));
  } finally {
    running.delete(hook);
  }
}

/**
 * A function with the same arguments. Its rejections end no process, and its errors reach the caller.
 */
export function withoutRejections<A extends readonly unknown[]>(
  hook: ((...given: A) => void) | undefined,
): (...given: A) => void {
  return (...given) => {
    const answer: unknown = hook?.(...given);
    if (isPromise(answer)) ignoreOutcome(answer);
  };
}

/**
 * Arguments for a user's function, which may change them: a copy of an object and of the objects and lists in it.
 * Instances of classes, and what lies deeper, are the user's own.
 */
export function handed<T extends object>(given: T): T {
  const copy = { ...given };
  for (const [name, value] of Object.entries(copy)) {
    if (Array.isArray(value)) Reflect.set(copy, name, [...value]);
    else if (isPlain(value)) Reflect.set(copy, name, { ...value });
  }
  return copy;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
