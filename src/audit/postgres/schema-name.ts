/** Where a log's tables are unless told otherwise. */
export const DEFAULT_SCHEMA = "entelix";

/**
 * A schema's name as it is written into statements: the only thing of them that is no parameter.
 *
 * @throws RangeError unless it is a plain lower-case name: 1 to 63 of `a`-`z`, `0`-`9` and `_`, not
 *   beginning with a digit or with `pg_`.
 */
export function quotedSchema(name: string): string {
  if (typeof name === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name)) return `"${name}"`;
  throw new RangeError(
    `schema: expected a name of 1 to 63 of a-z, 0-9 and _, not beginning with a digit or pg_, got ${JSON.stringify(name)}`,
  );
}
