import { isCount } from "../../events/door.ts";

/** An object with fields of unknown types. */
export interface Fields {
  readonly [key: string]: unknown;
}

export function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** A non-empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A whole number from 0, else `null`, which events use for "not known". */
export function countOf(value: unknown): number | null {
  return isCount(value) ? value : null;
}

/** A field of a value that may not be an object. */
export function fieldIn(value: unknown, name: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Reflect.get(value, name);
}
