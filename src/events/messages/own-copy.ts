import { types } from "node:util";
import { isFieldsOnly } from "../plain-json.ts";
import { isObject } from "./own-fields.ts";

// Whether code outside changed a value in place is found by comparing it with a copy. A text is compared by its
// reference first, so this costs a step for each field and not for each character.

/** A copy that no other code can change, and about how many bytes it takes. */
export interface OwnCopy {
  readonly value: unknown;
  readonly bytes: number;
}

/** Most lists, objects and fields of a copy. */
const MOST_STEPS = 20_000;

/** Most levels of a copy. */
const MOST_LEVELS = 100;

/** Bytes of a field besides its text. */
const STEP_BYTES = 16;

/**
 * A copy of a value that has only JSON values. `undefined` for other values (bytes, dates, class instances with
 * `toJSON`), for very large or deep ones, and if reading it throws.
 */
export function ownCopy(value: unknown): OwnCopy | undefined {
  const walk = { steps: MOST_STEPS, bytes: 0 };
  try {
    return { value: copied(value, walk, MOST_LEVELS), bytes: walk.bytes };
  } catch {
    return undefined;
  }
}

interface Walk {
  steps: number;
  bytes: number;
}

/** @throws for a value that cannot be copied. */
function copied(value: unknown, walk: Walk, levels: number): unknown {
  walk.bytes += STEP_BYTES;
  switch (typeof value) {
    case "string":
      walk.bytes += 2 * value.length;
      return value;
    case "number":
      // It equals nothing, also not itself.
      if (Number.isNaN(value)) throw NOT_COPIED;
      return value;
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : copiedObject(value, walk, levels);
    default:
      throw NOT_COPIED;
  }
}

const NOT_COPIED = new TypeError("expected a JSON value");

function copiedObject(value: object, walk: Walk, levels: number): unknown {
  if (levels === 0 || types.isProxy(value)) throw NOT_COPIED;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    walk.steps -= list.length;
    if (walk.steps < 0 || "toJSON" in list) throw NOT_COPIED;
    return list.map((each) => copied(each, walk, levels - 1));
  }
  if (!isFieldsOnly(value)) throw NOT_COPIED;
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    walk.steps -= 1;
    // Assigning this name would set the prototype.
    if (walk.steps < 0 || name === "__proto__") throw NOT_COPIED;
    copy[name] = copied(value[name], walk, levels - 1);
  }
  return copy;
}

/** Whether a value equals its copy. @throws what reading the value throws. */
export function equalsCopy(value: unknown, copy: unknown): boolean {
  if (value === copy) return true;
  if (!isObject(value) || !isObject(copy)) return false;
  if (Array.isArray(copy)) {
    if (!Array.isArray(value) || value.length !== copy.length || "toJSON" in value) return false;
    for (let index = 0; index < copy.length; index += 1) {
      if (!equalsCopy(value[index], copy[index])) return false;
    }
    return true;
  }
  if (Array.isArray(value) || !isFieldsOnly(value)) return false;
  let fields = 0;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    fields += 1;
    const inner = value[name];
    const known = copy[name];
    // A field that the copy has not is equal to nothing, also if its value is `undefined`.
    if ((known === undefined || name === "__proto__") && !Object.hasOwn(copy, name)) return false;
    if (inner !== known && !equalsCopy(inner, known)) return false;
  }
  for (const _ in copy) fields -= 1;
  return fields === 0;
}

/** Freezes a value and everything in it. @returns the value. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}
