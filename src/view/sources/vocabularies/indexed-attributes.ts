import type { ViewAttributes, ViewValue } from "../../format.ts";

/** Attributes by name. */
export type Flat = ReadonlyMap<string, ViewValue>;

/** The attributes with one of these prefixes. */
export function attributesUnder(attributes: ViewAttributes, prefixes: readonly string[]): Flat {
  const found = new Map<string, ViewValue>();
  for (const [name, value] of Object.entries(attributes)) {
    if (prefixes.some((prefix) => name.startsWith(prefix))) found.set(name, value);
  }
  return found;
}

/**
 * The entries of a list that is spread over attributes, in their order: `prefix.0.role` and `prefix.0.content` are
 * `role` and `content` of the first one. An index names only the order, so a large one needs no memory.
 */
export function entriesUnder(flat: Flat, prefix: string): readonly Flat[] {
  const entries = new Map<number, Map<string, ViewValue>>();
  for (const [name, value] of flat) {
    const [, digits = "", rest = ""] = name.startsWith(prefix)
      ? (INDEX.exec(name.slice(prefix.length)) ?? [])
      : [];
    if (rest === "") continue;
    const index = Number(digits);
    const entry = entries.get(index) ?? new Map<string, ViewValue>();
    entries.set(index, entry.set(rest, value));
  }
  return [...entries].sort(([one], [other]) => one - other).map(([, entry]) => entry);
}

const INDEX = /^\.(\d{1,15})\.(.+)$/s;

/** A text of an entry. */
export function textOf(flat: Flat, name: string): string | undefined {
  const value = flat.get(name);
  return typeof value === "string" ? value : undefined;
}
