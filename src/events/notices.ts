import { callHook } from "./users-functions.ts";

/** What a notice is about. Also the code of the process warning. */
export type NoticeCode =
  | "ENTELIX_UNKNOWN_OPTION"
  | "ENTELIX_NO_PROVIDER"
  | "ENTELIX_NO_TENANT"
  | "ENTELIX_SAME_RUN"
  | "ENTELIX_AFTER_SHUTDOWN"
  | "ENTELIX_ERROR";

/** Called with a notice, as an error, and with the part of the package that it is about. */
export type NoticeHook = (error: unknown, where: string) => void;

/**
 * Limit of notices of one code, for each hook and for the process. Their texts have names of the application. Each code
 * has its own, so that wrong options leave room for errors.
 */
const MOST_NOTICES = 100;

/** Errors are said again after this time, in ms: they may be new ones. */
const ERRORS_MS = 3_600_000;

interface Made {
  texts: Set<string>;
  since: number;
}

/** The notices that were made, by code: to each hook, and by the process. */
const made = new WeakMap<object, Map<NoticeCode, Made>>();
const PROCESS = {};

function madeOf(owner: object, code: NoticeCode): Set<string> {
  const codes = made.get(owner) ?? new Map<NoticeCode, Made>();
  made.set(owner, codes);
  const now = Date.now();
  const of = codes.get(code) ?? { texts: new Set(), since: now };
  codes.set(code, of);
  if (code === "ENTELIX_ERROR" && now - of.since >= ERRORS_MS) {
    of.texts = new Set();
    of.since = now;
  }
  return of.texts;
}

/**
 * Says once, in one line, that something is ignored or lost, and what to do: to the application's hook, else as a
 * process warning, which Node prints on standard error. `OTEL_LOG_LEVEL=none` turns off the warnings. Never throws.
 *
 * @param where one of a fixed set of names, for the hook.
 * @param hook the application's `onError`.
 */
export function notice(code: NoticeCode, text: string, where: string, hook?: NoticeHook): void {
  try {
    const known = madeOf(hook ?? PROCESS, code);
    if (known.has(text) || known.size >= MOST_NOTICES) return;
    known.add(text);
    if (hook !== undefined) callHook(() => hook(new Error(text), where));
    else if (process.env.OTEL_LOG_LEVEL?.trim().toLowerCase() !== "none") {
      process.emitWarning(`entelix-otel: ${text}`, { type: "EntelixWarning", code });
    }
  } catch {
    // A runtime without process warnings.
  }
}
