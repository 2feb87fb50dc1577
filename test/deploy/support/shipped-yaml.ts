import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** The text of a shipped file. */
export function shippedText(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
}

/** A shipped YAML file as data. */
export function shippedYaml(path: string): unknown {
  const value: unknown = parse(shippedText(path), { merge: true });
  return value;
}

/** What stands at a path of keys. @throws TypeError that names the path when nothing does. */
export function at(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined;
    if (found === undefined) throw new TypeError(`expected something at ${keys.join(" → ")}`);
  }
  return found;
}

/** What stands there, or undefined. */
export function maybeAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (found, key) =>
      typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined,
    value,
  );
}

/** The keys of an object and their values. */
export function entriesAt(value: unknown, ...keys: readonly string[]): [string, unknown][] {
  const found = at(value, ...keys);
  if (typeof found !== "object" || found === null) {
    throw new TypeError(`expected an object at ${keys.join(" → ")}`);
  }
  return Object.entries(found);
}

/** A list; empty when it is absent. */
export function listAt(value: unknown, ...keys: readonly string[]): unknown[] {
  const found = maybeAt(value, ...keys) ?? [];
  if (!Array.isArray(found)) throw new TypeError(`expected a list at ${keys.join(" → ")}`);
  return found;
}

/** A list of texts; empty when it is absent. */
export function textsAt(value: unknown, ...keys: readonly string[]): string[] {
  return listAt(value, ...keys).map(String);
}

/** An environment variable that a configuration reads: `${env:NAME:-default}`. */
export interface EnvVariable {
  readonly name: string;
  readonly fallback: string | undefined;
}

/** All of them, comments left out, in the order in which they stand. */
export function envVariables(path: string): EnvVariable[] {
  const config = shippedText(path).replace(/^\s*#.*$/gm, "");
  return [...config.matchAll(/\$\{env:(\w+)(?::-([^}]*))?\}/g)].map(([, name = "", fallback]) => ({
    name,
    fallback,
  }));
}

/** The variables that compose itself replaces, `${NAME:-default}`, with these defaults. */
export function composeVariables(path: string): ReadonlyMap<string, string> {
  const found = shippedText(path).matchAll(/\$\{(\w+):-([^}]*)\}/g);
  return new Map([...found].map(([, name = "", fallback = ""]) => [name, fallback]));
}

/** The settings that a page has in its tables, with the defaults that it names. */
export function settingsIn(path: string): ReadonlyMap<string, string> {
  const rows = shippedText(path).matchAll(/^\| `([A-Z_]+)` \| `?([^|`]*)`? \|/gm);
  return new Map([...rows].map(([, name = "", fallback = ""]) => [name, fallback.trim()]));
}
