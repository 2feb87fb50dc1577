import { checkFunction, checkGiven, checkOptionsObject } from "../../events/door.ts";

/** Options that most adapters share. */
interface CommonOptions {
  readonly sink?: unknown;
  readonly tenant?: unknown;
  readonly context?: unknown;
  readonly isFailure?: unknown;
  readonly price?: unknown;
  readonly decidedBy?: unknown;
  readonly onError?: unknown;
}

/** @throws TypeError when an option has the wrong type, or `sink` or `tenant` is missing. */
export function checkCommonOptions(options: CommonOptions): void {
  checkOptionsObject(options);
  checkGiven(options.sink, "sink", "send");
  checkTenant(options.tenant);
  checkFunction(options.context, "context");
  checkFunction(options.isFailure, "isFailure");
  checkFunction(options.price, "price");
  checkFunction(options.decidedBy, "decidedBy");
  checkFunction(options.onError, "onError");
}

/** @throws TypeError unless it is a non-empty text or a function. */
export function checkTenant(tenant: unknown): void {
  if (typeof tenant === "function") return;
  if (typeof tenant === "string" && tenant !== "") return;
  throw new TypeError("tenant: expected a text that is not empty, or a function that gives it");
}
