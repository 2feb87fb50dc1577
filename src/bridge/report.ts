import { diag } from "@opentelemetry/api";
import { callHook, type NoticeCode, notice } from "../events/door.ts";
import { isRegistered } from "./global-registration.ts";

/**
 * Called with every internal error and where it happened. Errors that the hook throws are ignored.
 */
export type ErrorHook = (error: unknown, where: string) => void;

/**
 * Reports internal errors to the operator's hook, else to OpenTelemetry's diagnostic logger, at most one a minute for
 * each `where`, else as a process warning, once for each text. Never throws.
 */
export class Reporter {
  readonly #hook: ErrorHook | undefined;
  #isCalling = false;
  readonly #quietUntil = new Map<string, number>();

  constructor(hook: ErrorHook | undefined) {
    this.#hook = hook;
  }

  /** @param where one of a fixed set of names, which bounds the memory. */
  report(error: unknown, where: string): void {
    const hook = this.#hook;
    // An error that the hook causes would call it without end.
    if (hook === undefined || this.#isCalling) {
      this.#log(error, where);
      return;
    }
    this.#isCalling = true;
    callHook(
      () => hook(error, where),
      (failure) => this.#log(failure, "onError"),
    );
    this.#isCalling = false;
  }

  /** Says once that something is ignored or lost: to the hook, else as a process warning. */
  notice(code: NoticeCode, text: string, where: string): void {
    notice(code, text, where, this.#hook);
  }

  #log(error: unknown, where: string): void {
    const now = Date.now();
    if (now < (this.#quietUntil.get(where) ?? 0)) return;
    this.#quietUntil.set(where, now + 60_000);
    try {
      const text = `${where}: ${String(error)}`;
      if (isRegistered("diag")) diag.warn(`entelix-otel: ${text}`);
      else notice("ENTELIX_ERROR", text, where);
    } catch {
      // The logger throws, or the error cannot be shown. There is no other channel.
    }
  }
}
