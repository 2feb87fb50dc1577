import type { JsonValue } from "../events/exact-json.ts";
import { isCount as isSafeCount } from "../events/option-checks.ts";
import type { DecodeIssue, JsonObject } from "./dialect.ts";

/** Notes the field as wrong unless it is a string. */
export function expectText(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (typeof value !== "string") issues.push({ field, expected: "text" });
}

/** Notes the field as wrong unless it is a string with something in it. */
export function expectName(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (typeof value !== "string" || value === "") issues.push({ field, expected: "non-empty text" });
}

/** Notes the field as wrong unless it is a string, `null` or absent. */
export function expectOptionalText(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (typeof value !== "string" && value !== null && value !== undefined) {
    issues.push({ field, expected: "text, or null" });
  }
}

/** Notes the field as wrong unless it is there, whatever JSON value it holds. */
export function expectContent(value: JsonObject, field: string, issues: DecodeIssue[]): void {
  if (value[field] === undefined) {
    issues.push({ field, expected: "a JSON value (null where it was left out)" });
  }
}

/** Whether the value counts something: a whole number from 0, of any size. */
export function isCount(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "bigint" ? value >= 0n : isSafeCount(value);
}

/** Notes the field as wrong unless it is a whole number from 0, of any size. */
export function expectCount(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (!isCount(value)) issues.push({ field, expected: "a whole number from 0" });
}

/** Notes the field as wrong unless it is a length of time in ms, which may have a fraction. */
export function expectMilliseconds(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  const fits = typeof value === "number" ? value >= 0 && Number.isFinite(value) : isCount(value);
  if (!fits) issues.push({ field, expected: "milliseconds from 0" });
}
