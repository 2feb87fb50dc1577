import { checkFunction, checkGiven, checkOptionsObject } from "../../events/door.ts";
import { textOf } from "./narrow.ts";

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

/**
 * Resolves the option `tenant`.
 *
 * @throws TypeError when the function returns no text. Errors of the function pass through.
 */
export function tenantOf<C>(tenant: string | ((of: C) => string), of: C): string {
  const given: unknown = typeof tenant === "function" ? tenant(of) : tenant;
  if (typeof given === "string" && given !== "") return given;
  throw new TypeError(`tenant: expected the function to give text, got ${typeof given}`);
}

/**
 * Like {@link tenantOf}, but never throws.
 *
 * @param refused called with the error instead.
 * @returns `undefined` if the tenant is not known.
 */
export function knownTenant<C>(
  tenant: string | ((of: C) => string),
  of: C,
  refused: (error: unknown) => void,
): string | undefined {
  try {
    return tenantOf(tenant, of);
  } catch (error) {
    refused(error);
    return undefined;
  }
}

/** The non-empty text that a hook of the application returns. Never throws. */
export function askedText(
  ask: () => unknown,
  onError: (error: unknown) => void,
): string | undefined {
  try {
    return textOf(ask());
  } catch (error) {
    onError(error);
    return undefined;
  }
}
