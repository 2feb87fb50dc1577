import { readDecimal } from "../../events/format/door.ts";
import type { ViewAttributes } from "../format.ts";

/** An attribute that should be text. */
export function textIn(attributes: ViewAttributes, name: string): string | undefined {
  const value = attributes[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An attribute that should be a number that is not negative. Large integers come as text. */
export function numberIn(attributes: ViewAttributes, name: string): number | undefined {
  const value = attributes[name];
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** An attribute that should be a cost. Other text than a decimal number from 0 is none, as in the metrics. */
export function costIn(attributes: ViewAttributes, name: string): string | undefined {
  const text = textIn(attributes, name);
  return readDecimal(text) === undefined ? undefined : text;
}

/** The fields of a value that should be an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** A field that should be text. */
export function fieldText(value: unknown, name: string): string | undefined {
  const field = fieldsOf(value)?.[name];
  return typeof field === "string" && field !== "" ? field : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
