import { callHook } from "./users-functions.ts";

/** What a notice is about. Also the code of the process warning. */
export type NoticeCode =
  | "ENTELIX_UNKNOWN_OPTION"
  | "ENTELIX_NO_PROVIDER"
  | "ENTELIX_NO_TENANT"
  | "ENTELIX_SAME_RUN"
  | "ENTELIX_ERROR";

/** Called with a notice, as an error, and with the part of the package that it is about. */
export type NoticeHook = (error: unknown, where: string) => void;

/** Limit of notices in a process. Names in them come from the application. */
const MOST_NOTICES = 100;

/** The notices that were made: of each hook, and of the process. */
const made = new WeakMap<object, Set<string>>();
const PROCESS = {};
let count = 0;

/**
 * Says once, in one line, that something is ignored or lost, and what to do: to the application's hook, else as a
 * process warning, which Node prints on standard error. `OTEL_LOG_LEVEL=none` turns off the warnings. Never throws.
 *
 * @param where one of a fixed set of names, for the hook.
 * @param hook the application's `onError`.
 */
export function notice(code: NoticeCode, text: string, where: string, hook?: NoticeHook): void {
  try {
    const owner = hook ?? PROCESS;
    const known = made.get(owner) ?? new Set();
    made.set(owner, known);
    if (known.has(text) || count >= MOST_NOTICES) return;
    known.add(text);
    count += 1;
    if (hook !== undefined) callHook(() => hook(new Error(text), where));
    else if (process.env.OTEL_LOG_LEVEL?.trim().toLowerCase() !== "none") {
      process.emitWarning(`entelix-otel: ${text}`, { type: "EntelixWarning", code });
    }
  } catch {
    // A runtime without process warnings.
  }
}
