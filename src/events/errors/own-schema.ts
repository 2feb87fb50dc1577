import { property } from "./thrown.ts";

/** Terms in the schema of a tool's input. */
export interface SchemaTerms {
  /** Names of properties, at any depth. */
  readonly names: ReadonlySet<unknown>;
  /** Numbers, such as that of `minimum`. */
  readonly numbers: ReadonlySet<unknown>;
}

/** Most values of a schema that are visited. */
const MAX_VALUES = 10_000;
/** Longest name that is shown. */
const MAX_NAME_CHARS = 64;

const NOTHING_KNOWN: SchemaTerms = { names: new Set(), numbers: new Set() };
const known = new WeakMap<object, SchemaTerms>();

/**
 * The names and numbers of a tool's own schema: a JSON Schema, or a schema of a library that implements Standard JSON
 * Schema (zod 4.2, arktype 2.1.28). Empty for any other value. Never throws.
 */
export function termsOf(schema: unknown): SchemaTerms {
  if (!isObject(schema)) return NOTHING_KNOWN;
  const terms = known.get(schema) ?? termsIn(jsonSchemaOf(schema));
  known.set(schema, terms);
  return terms;
}

function jsonSchemaOf(schema: object): unknown {
  const standard = property(schema, "~standard");
  if (standard === undefined) return schema;
  const converter = property(standard, "jsonSchema");
  const convert = property(converter, "input");
  if (typeof convert !== "function") return undefined;
  // zod's own option. Without it, a type that JSON lacks, such as a date, would lose all names.
  const options = { target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } };
  try {
    return Reflect.apply(convert, converter, [options]);
  } catch {
    return undefined;
  }
}

function termsIn(schema: unknown): SchemaTerms {
  const names = new Set<unknown>();
  const numbers = new Set<unknown>();
  // A set keeps the order of its values, and visits each value once.
  const reached = new Set([schema]);
  for (const value of reached) {
    if (typeof value === "number") numbers.add(value);
    for (const key of keysOf(value)) {
      const inside = property(value, key);
      if (key === "properties") {
        for (const name of keysOf(inside)) if (name.length <= MAX_NAME_CHARS) names.add(name);
      }
      if (reached.size < MAX_VALUES) reached.add(inside);
    }
  }
  return { names, numbers };
}

function keysOf(value: unknown): readonly string[] {
  try {
    return isObject(value) ? Object.keys(value) : [];
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
