/**
 * Nesting beyond which the writer gives up: more than a JSON text that we read may have, and little
 * enough for the stack.
 */
const MAX_DEPTH = 2_000;

/** A value that has no JSON. The message is a reason in plain words, without the value. */
export class UnserializableValue extends Error {
  override readonly name = "UnserializableValue";
}

/**
 * What `JSON.stringify` writes, but with a `bigint` as its digits.
 *
 * Slower than `JSON.stringify`: meant for the values that it refuses.
 *
 * @throws UnserializableValue for a cycle, for nesting too deep, and for what has no JSON at the top;
 *   whatever a getter, `toJSON` or proxy of the value throws.
 */
export function writeExact(value: unknown): string {
  const text = write(value, "", new Set());
  if (text !== undefined) return text;
  throw new UnserializableValue(typeof value === "object" ? "toJSON gave nothing" : typeof value);
}

/** `undefined` for what is left out: `undefined`, functions and symbols. */
function write(given: unknown, key: string, ancestors: Set<object>): string | undefined {
  const value = primitiveOf(viaToJson(given, key));
  if (value === undefined || typeof value === "function" || typeof value === "symbol") {
    return undefined;
  }
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (ancestors.has(value)) throw new UnserializableValue("it contains itself");
  if (ancestors.size >= MAX_DEPTH) throw new UnserializableValue("nested too deeply");
  ancestors.add(value);
  const text = Array.isArray(value) ? writeArray(value, ancestors) : writeObject(value, ancestors);
  ancestors.delete(value);
  return text;
}

function viaToJson(value: unknown, key: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return value;
  const toJson: unknown = "toJSON" in value ? value.toJSON : undefined;
  return typeof toJson === "function" ? Reflect.apply(toJson, value, [key]) : value;
}

function primitiveOf(value: unknown): unknown {
  if (value instanceof Number) return Number(value);
  if (value instanceof String) return String(value);
  if (value instanceof Boolean || value instanceof BigInt) return value.valueOf();
  return value;
}

function writeArray(array: readonly unknown[], ancestors: Set<object>): string {
  let text = "[";
  for (let index = 0; index < array.length; index += 1) {
    if (index > 0) text += ",";
    text += write(array[index], String(index), ancestors) ?? "null";
  }
  return `${text}]`;
}

function writeObject(object: object, ancestors: Set<object>): string {
  let text = "{";
  for (const key of Object.keys(object)) {
    const value: unknown = Reflect.get(object, key);
    const written = write(value, key, ancestors);
    if (written === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${JSON.stringify(key)}:${written}`;
  }
  return `${text}}`;
}
