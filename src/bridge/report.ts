import { diag } from "@opentelemetry/api";
import { isPromise } from "../events/door.ts";

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
  readonly #quietUntil = new Map<string, number>();

  constructor(hook: ErrorHook | undefined) {
    this.#hook = hook;
  }

  /** @param where one of a fixed set of names, which bounds the memory. */
  report(error: unknown, where: string): void {
    if (this.#hook === undefined) {
      this.#log(error, where);
      return;
    }
    try {
      const result: unknown = this.#hook(error, where);
      // The rejection of an async hook must not end the process.
      if (isPromise(result)) result.then(undefined, (failure) => this.#log(failure, "onError"));
    } catch (failure) {
      this.#log(failure, "onError");
    }
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
