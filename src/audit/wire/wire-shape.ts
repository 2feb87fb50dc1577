/**
 * When a field stands in the line. What serde's attributes say in upstream's types:
 *
 * - `always`: required.
 * - `or_null`: `null` when there is none.
 * - `if_set`: left out when there is none.
 * - `if_any`: left out when the list is empty.
 * - `or_default`: may be missing when read; written with the default.
 */
export type Presence = "always" | "or_null" | "if_set" | "if_any" | "or_default";

export interface WireField {
  readonly name: string;
  /** The name as it stands in the line, with its colon. */
  readonly key: string;
  readonly shape: WireShape;
  readonly presence: Presence;
  /** JSON of the default, for `or_default`. */
  readonly fallback: string;
}

export interface RecordShape {
  readonly type: "record";
  /** In the order of the line. */
  readonly fields: readonly WireField[];
  readonly byName: ReadonlyMap<string, WireField>;
}

export interface TaggedShape {
  readonly type: "tagged";
  /** Name of the field that names the variant; it comes first. */
  readonly tag: string;
  readonly variants: ReadonlyMap<string, RecordShape>;
}

/**
 * The form of a value on the wire. Writer and checker both walk these tables, so that a field's
 * name, place and rules are stated once.
 */
export type WireShape =
  | { readonly type: "text" | "flag" | "json" | "time" | "decimal" | "text_map" }
  | { readonly type: "integer"; readonly max: number | bigint }
  | { readonly type: "choice"; readonly of: readonly string[] }
  | { readonly type: "list"; readonly of: WireShape }
  | RecordShape
  | TaggedShape;

export const text: WireShape = { type: "text" };
export const flag: WireShape = { type: "flag" };
export const json: WireShape = { type: "json" };
export const time: WireShape = { type: "time" };
export const decimal: WireShape = { type: "decimal" };
export const textMap: WireShape = { type: "text_map" };
export const u32: WireShape = { type: "integer", max: 2 ** 32 - 1 };
export const u64: WireShape = { type: "integer", max: 2n ** 64n - 1n };

/** One of some fixed words. */
export function choice(...of: readonly string[]): WireShape {
  return { type: "choice", of };
}

export function list(of: WireShape): WireShape {
  return { type: "list", of };
}

export function field(
  name: string,
  shape: WireShape,
  presence: Presence = "always",
  fallback = "null",
): WireField {
  return { name, key: `${JSON.stringify(name)}:`, shape, presence, fallback };
}

export function record(...fields: readonly WireField[]): RecordShape {
  return { type: "record", fields, byName: new Map(fields.map((each) => [each.name, each])) };
}

/** A union whose variants are told apart by the field `tag`. */
export function tagged(tag: string, variants: Readonly<Record<string, RecordShape>>): TaggedShape {
  return { type: "tagged", tag, variants: new Map(Object.entries(variants)) };
}

/** Whether a value is a JSON object, so that its fields can be looked at. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
