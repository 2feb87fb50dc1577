import { isCount } from "../../events/door.ts";

/** An object whose fields can be read; what they hold is not known. */
export interface Fields {
  readonly [key: string]: unknown;
}

/** What the framework hands over, as an object to read from. */
export function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** Text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An array, to be read element by element. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A whole number from 0; else `null`, as events have what is not known. */
export function countOf(value: unknown): number | null {
  return isCount(value) ? value : null;
}

/** A field of something that may be no object. */
export function fieldIn(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Reflect.get(value, name);
}
