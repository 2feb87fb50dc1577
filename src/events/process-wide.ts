import { property } from "./errors/thrown.ts";

/**
 * One value for the process, even if the ESM and the CommonJS copy of this package are both loaded.
 *
 * @param name of the value. With a version, if only copies of one version can share it.
 * @param isIt checks the value of another copy, whose classes are not those of this one.
 */
export function processWide<T>(
  name: string,
  isIt: (value: unknown) => value is T,
  make: () => T,
): T {
  const key = Symbol.for(`entelix-otel.${name}`);
  const held = property(globalThis, key);
  if (isIt(held)) return held;
  const value = make();
  Object.defineProperty(globalThis, key, { value, configurable: true });
  return value;
}
