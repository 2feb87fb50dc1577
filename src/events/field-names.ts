import { types } from "node:util";

// The engine lists all names of an object before the first one can be read: 15 ms for 100,000 names. While one event is
// processed, its values are read several times, so the names of a wide object are kept for that time.

/** The names of an object with fewer fields are listed each time. */
const MANY = 1_024;

let isOpen = false;
let kept: Map<object, readonly string[]> | undefined;

/**
 * Keeps names from here until {@link forgetNames}. No caller's code may run in between, except getters and hooks.
 *
 * @returns `false` if names are already kept. Then the outer caller forgets them.
 */
export function keepNames(): boolean {
  if (isOpen) return false;
  isOpen = true;
  return true;
}

export function forgetNames(): void {
  isOpen = false;
  kept = undefined;
}

/** `Object.keys`. For a proxy, also names that are not enumerable, because each check would call its handler. */
export function namesOf(object: object): readonly string[] {
  const known = kept?.get(object);
  if (known !== undefined) return known;
  const names = types.isProxy(object)
    ? Reflect.ownKeys(object).filter((name) => typeof name === "string")
    : Object.keys(object);
  if (isOpen && names.length > MANY) {
    kept ??= new Map();
    kept.set(object, names);
  }
  return names;
}
