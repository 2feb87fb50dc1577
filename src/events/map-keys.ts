import { plainJson } from "./plain-json.ts";

/** Most bytes of a `Map`'s key that is not a text. */
const MOST_KEY = 128;

/** A text, or its JSON if that is short and needs no special form. A key cannot be a part of the value's tree. */
export function keyText(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "bigint") return integerText(key) ?? "bigint";
  const isValue = typeof key !== "symbol" && typeof key !== "function" && key !== undefined;
  return (
    (isValue ? plainJson(key, MOST_KEY) : undefined) ?? (Array.isArray(key) ? "list" : typeof key)
  );
}

/**
 * A unique name, since different keys may have the same text. @param used each name with the number of keys that
 * wanted it.
 */
export function freeName(name: string, used: Map<string, number>): string {
  let count = used.get(name) ?? 0;
  let free = name;
  while (count > 0 && used.has(free)) {
    free = count === 1 ? `${name}#` : `${name}#${count}`;
    count += 1;
  }
  used.set(name, Math.max(count, 1));
  if (free !== name) used.set(free, 1);
  return free;
}

/** No reader takes a larger integer, and writing it takes long. */
const MOST_INTEGER = 10n ** 10_000n;

/** The digits of an integer. `undefined` if it has more than 10,000. */
export function integerText(given: bigint): string | undefined {
  return given < MOST_INTEGER && given > -MOST_INTEGER ? String(given) : undefined;
}
