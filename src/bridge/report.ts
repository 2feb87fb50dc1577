import { diag } from "@opentelemetry/api";
import { callHook } from "../events/door.ts";

/**
 * Called with every internal error and where it happened. Errors that the hook throws are ignored.
 */
export type ErrorHook = (error: unknown, where: string) => void;

/**
 * Reports internal errors to the operator's hook, or to OpenTelemetry's diagnostic logger. The logger
 * gets at most one a minute for each `where`. Never throws.
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

  #log(error: unknown, where: string): void {
    const now = Date.now();
    if (now < (this.#quietUntil.get(where) ?? 0)) return;
    this.#quietUntil.set(where, now + 60_000);
    try {
      diag.warn(`entelix-otel: ${where}: ${String(error)}`);
    } catch {
      // The logger throws, or the error cannot be shown. There is no other channel.
    }
  }
}
