/**
 * Reads a property of anything thrown. Getters and Proxies may throw in turn; that reads as
 * `undefined`, for an error path must not fail.
 */
export function property(value: unknown, key: string | symbol): unknown {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) {
    return undefined;
  }
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/** A property that is text and not empty, else `undefined`. */
export function textProperty(value: unknown, key: string): string | undefined {
  const text = property(value, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** The first `max` elements of a property that is an array, else none. */
export function listProperty(value: unknown, key: string, max: number): readonly unknown[] {
  const list = property(value, key);
  if (!isArray(list)) return [];
  const length = property(list, "length");
  const end = typeof length === "number" ? Math.min(length, max) : 0;
  const elements: unknown[] = [];
  for (let i = 0; i < end; i++) elements.push(property(list, String(i)));
  return elements;
}

/** The name of a thrown value's class, or its type when it has none. */
export function constructorName(value: unknown): string {
  if (value === null) return "null";
  return textProperty(property(value, "constructor"), "name") ?? typeof value;
}

/** `Array.isArray`, which throws for a revoked Proxy. */
export function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
