import { checkFunction, checkGiven, checkOptionsObject } from "../../events/door.ts";
import { textOf } from "./narrow.ts";

/** The options that most adapters have. */
interface CommonOptions {
  readonly sink?: unknown;
  readonly tenant?: unknown;
  readonly context?: unknown;
  readonly isFailure?: unknown;
  readonly price?: unknown;
  readonly decidedBy?: unknown;
  readonly onError?: unknown;
}

/** @throws TypeError when one of them is of another type, or `sink` or `tenant` is missing. */
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

/** @throws TypeError unless it is a text that is not empty, or a function. */
export function checkTenant(tenant: unknown): void {
  if (typeof tenant === "function") return;
  if (typeof tenant === "string" && tenant !== "") return;
  throw new TypeError("tenant: expected a text that is not empty, or a function that gives it");
}

/**
 * The tenant that the option says.
 *
 * @throws TypeError when its function gives no text, and whatever it throws itself.
 */
export function tenantOf<C>(tenant: string | ((of: C) => string), of: C): string {
  const given: unknown = typeof tenant === "function" ? tenant(of) : tenant;
  if (typeof given === "string" && given !== "") return given;
  throw new TypeError(`tenant: expected the function to give text, got ${typeof given}`);
}

/**
 * The same. Never throws.
 *
 * @param refused called with the error in place of throwing it.
 * @returns `undefined` where the tenant is not known.
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

/** The text that a hook of the application returns, unless it is empty. Never throws. */
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
