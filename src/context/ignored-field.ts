import { callHook } from "../errors/call-hook.ts";

/**
 * Why a field was not taken over.
 *
 * - `malformed`: it has not the form that it should have
 * - `too_long`: it is longer than its bound
 * - `repeated`: it is there several times, and differs
 * - `incomplete`: it is missing, and without it the others are of no use
 * - `unreadable`: the carrier itself could not be read
 */
export type IgnoredReason = "malformed" | "too_long" | "repeated" | "incomplete" | "unreadable";

/** Who is told of what a carrier had and was not taken over. */
export interface CarrierOptions {
  /**
   * Told of each field that was not taken over: by its name in the carrier, and never with its value,
   * which may be an attacker's. What it throws, or rejects with, is dropped. Default: nobody.
   */
  readonly onIgnored?: ((field: string, reason: IgnoredReason) => void) | undefined;
}

/** Tells of a field; nothing comes back. */
export type TellIgnored = (field: string, reason: IgnoredReason) => void;

/** What the options say, as a function that never throws. */
export function tellerOf(options: CarrierOptions | undefined): TellIgnored {
  return (field, reason) => {
    callHook(() => options?.onIgnored?.(field, reason));
  };
}
