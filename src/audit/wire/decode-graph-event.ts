import { isCount } from "../../events/option-checks.ts";
import { readTimestamp } from "../../events/rfc3339.ts";
import type { GraphEvent, UnknownGraphEvent } from "./graph-event.ts";
import { graphEventShape } from "./graph-event-shape.ts";
import {
  isObject,
  type RecordShape,
  type TaggedShape,
  type WireField,
  type WireShape,
} from "./wire-shape.ts";

/** What is wrong with one field of an entry. */
export interface GraphEventIssue {
  /** Path such as `content[0].source.url`; empty when the entry itself is wrong. */
  readonly field: string;
  readonly expected: string;
}

/** An entry, or what keeps the value from being one. */
export type DecodedGraphEvent =
  | { readonly event: GraphEvent; readonly known: true; readonly issues?: undefined }
  | { readonly event: UnknownGraphEvent; readonly known: false; readonly issues?: undefined }
  | { readonly event?: undefined; readonly issues: readonly GraphEventIssue[] };

/** A hostile line must not make the list of its faults longer than itself is useful. */
const MAX_ISSUES = 20;

/**
 * Checks a parsed line against upstream's `GraphEvent` and returns the same object, typed.
 *
 * Unknown fields pass through untouched, and so does an entry of an unknown kind (`known: false`).
 * Parse with `parseExact` to keep integers beyond 2^53. It does not throw; at most 20 issues are
 * listed.
 *
 * @example
 * const decoded = decodeGraphEvent(parseExact(line));
 * if (decoded.issues) throw new Error(`${decoded.issues[0]?.field}: …`);
 */
export function decodeGraphEvent(value: unknown): DecodedGraphEvent {
  if (!isObject(value)) return { issues: [{ field: "", expected: "a JSON object" }] };
  if (!hasKind(value)) return { issues: [{ field: "kind", expected: "the name of the event" }] };
  if (!graphEventShape.variants.has(value.kind)) return { event: value, known: false };
  if (isGraphEvent(value)) return { event: value, known: true };
  const issues: GraphEventIssue[] = [];
  check(graphEventShape, value, "", issues);
  return { issues };
}

/** Whether the value is an entry of one of the 19 known kinds, with every field in order. */
export function isGraphEvent(value: unknown): value is GraphEvent {
  return fits(graphEventShape, value);
}

function hasKind(value: Readonly<Record<string, unknown>>): value is UnknownGraphEvent {
  return typeof value.kind === "string";
}

/**
 * Whether {@link check} has nothing to say. Nearly every entry is right: to find that out, no path of
 * a field is made, and no closure.
 */
function fits(shape: WireShape, value: unknown): boolean {
  if (expectation(shape, value) !== undefined) return false;
  if (shape.type === "list") return !Array.isArray(value) || allFit(shape.of, value);
  if (!isObject(value)) return true;
  if (shape.type === "record") return fieldsFit(shape, value);
  if (shape.type !== "tagged") return true;
  const variant = variantOf(shape, value);
  return variant !== undefined && fieldsFit(variant, value);
}

function allFit(shape: WireShape, values: readonly unknown[]): boolean {
  for (const value of values) if (!fits(shape, value)) return false;
  return true;
}

function fieldsFit(shape: RecordShape, value: Readonly<Record<string, unknown>>): boolean {
  for (const field of shape.fields) {
    const given = value[field.name];
    if (!mayBeMissing(field, given) && !fits(field.shape, given)) return false;
  }
  return true;
}

function variantOf(shape: TaggedShape, value: Readonly<Record<string, unknown>>) {
  const tag = value[shape.tag];
  return typeof tag === "string" ? shape.variants.get(tag) : undefined;
}

/** Adds what is wrong with a value, and with what is in it, to the issues. */
function check(shape: WireShape, value: unknown, path: string, issues: GraphEventIssue[]): void {
  if (issues.length >= MAX_ISSUES) return;
  const expected = expectation(shape, value);
  if (expected !== undefined) {
    issues.push({ field: path, expected });
    return;
  }
  if (shape.type === "list" && Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      check(shape.of, each, `${path}[${index}]`, issues);
    }
  } else if (shape.type === "record" && isObject(value)) {
    checkFields(shape, value, path, issues);
  } else if (shape.type === "tagged" && isObject(value)) {
    const variant = variantOf(shape, value);
    if (variant !== undefined) {
      checkFields(variant, value, path, issues);
    } else {
      const known = [...shape.variants.keys()].join(", ");
      issues.push({ field: under(path, shape.tag), expected: `one of ${known}` });
    }
  }
}

function checkFields(
  shape: RecordShape,
  value: Readonly<Record<string, unknown>>,
  path: string,
  issues: GraphEventIssue[],
): void {
  for (const field of shape.fields) {
    const given = value[field.name];
    if (!mayBeMissing(field, given)) check(field.shape, given, under(path, field.name), issues);
  }
}

/** What was expected in place of the value, or nothing where its outer form is right. */
function expectation(shape: WireShape, value: unknown): string | undefined {
  switch (shape.type) {
    case "text":
      return typeof value === "string" ? undefined : "a string";
    case "flag":
      return typeof value === "boolean" ? undefined : "true or false";
    case "json":
      return value === undefined ? "a JSON value" : undefined;
    case "time":
      return typeof value === "string" && readTimestamp(value) !== undefined
        ? undefined
        : "an RFC 3339 time";
    case "decimal":
      return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)
        ? undefined
        : "a decimal number as a string";
    case "integer":
      return isWhole(value, shape.max) ? undefined : `a whole number from 0 to ${shape.max}`;
    case "choice":
      return typeof value === "string" && shape.of.includes(value)
        ? undefined
        : `one of ${shape.of.join(", ")}`;
    case "text_map":
      return isObject(value) && Object.values(value).every((each) => typeof each === "string")
        ? undefined
        : "an object of strings";
    case "list":
      return Array.isArray(value) ? undefined : "a list";
    case "record":
    case "tagged":
      return isObject(value) ? undefined : "a JSON object";
    default:
      return impossible(shape);
  }
}

function isWhole(value: unknown, max: number | bigint): boolean {
  if (typeof value === "bigint") return value >= 0n && value <= max;
  return isCount(value) && value <= max;
}

function mayBeMissing(field: WireField, given: unknown): boolean {
  if (given !== undefined && given !== null) return false;
  switch (field.presence) {
    case "always":
      return false;
    case "or_null":
    case "if_set":
      return true;
    case "if_any":
    case "or_default":
      return given === undefined;
    default:
      return impossible(field.presence);
  }
}

function under(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function impossible(value: never): never {
  throw new TypeError(`no such wire shape: ${String(value)}`);
}
