import type { JsonValue } from "../../events/exact-json.ts";
import { type DecodeIssue, isJsonObject, type JsonObject } from "../dialect.ts";
import { expectOptionalText, expectText, isCount } from "../field-checks.ts";

const USAGE_FIELDS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/** Far deeper than agents nest; what is longer is no path. */
const MOST_LEVELS = 256;

/** Notes what is wrong with a content block. */
export function checkBlock(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (isJsonObject(value)) expectText(value.type, `${field}.type`, issues);
  else issues.push({ field, expected: 'a content block such as {"type":"text","text":"…"}' });
}

/** Notes what is wrong with a list of content blocks. */
export function checkBlocks(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (!isList(value)) {
    issues.push({ field, expected: "a list of content blocks" });
    return;
  }
  value.forEach((block, index) => {
    checkBlock(block, `${field}[${index}]`, issues);
  });
}

/** Notes what is wrong with `ToolCallUpdateFields`; unknown fields of it pass unseen. */
export function checkToolCallFields(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "fields", expected: 'an object such as {"status":"pending"}' });
    return;
  }
  expectOptionalText(value.kind, "fields.kind", issues);
  expectOptionalText(value.status, "fields.status", issues);
  expectOptionalText(value.title, "fields.title", issues);
  checkOptionalObjects(value.content, "fields.content", issues);
  checkOptionalObjects(value.locations, "fields.locations", issues);
}

function checkOptionalObjects(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (value === undefined || value === null) return;
  if (isList(value) && value.every(isJsonObject)) return;
  issues.push({ field, expected: "a list of objects, or null" });
}

/** Notes what is wrong with a usage; each count may be absent or `null`. */
export function checkUsage(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (value === undefined || value === null) return;
  if (!isJsonObject(value)) {
    issues.push({ field: "usage", expected: "a usage object, or null" });
    return;
  }
  for (const name of USAGE_FIELDS) {
    const count = value[name];
    if (count === undefined || count === null || isCount(count)) continue;
    issues.push({ field: `usage.${name}`, expected: "a whole number from 0, or null" });
  }
}

/** Notes what is wrong with a policy's verdict. */
export function checkVerdict(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "decision", expected: 'an object such as {"kind":"allow"}' });
    return;
  }
  expectText(value.kind, "decision.kind", issues);
  if (value.kind !== "ask") return;
  if (!isList(value.options)) {
    issues.push({ field: "decision.options", expected: "a list of options" });
    return;
  }
  value.options.forEach((option, index) => {
    checkOption(option, `decision.options[${index}]`, issues);
  });
}

function checkOption(value: JsonValue, field: string, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field, expected: "an object with id, name, kind and allows" });
    return;
  }
  for (const name of ["id", "name", "kind"]) expectText(value[name], `${field}.${name}`, issues);
  if (typeof value.allows !== "boolean") {
    issues.push({ field: `${field}.allows`, expected: "true or false" });
  }
}

/** Notes what is wrong with the outcome of a permission request. */
export function checkOutcome(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "outcome", expected: 'an object such as {"kind":"cancelled"}' });
    return;
  }
  expectText(value.kind, "outcome.kind", issues);
  if (value.kind === "selected") expectText(value.option_id, "outcome.option_id", issues);
}

/** Notes what is wrong with the ids of the spawning calls: none where the turn itself is meant. */
export function checkAncestors(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  const fits = isList(value) && value.length <= MOST_LEVELS;
  if (fits && value.every((id) => typeof id === "string")) return;
  issues.push({ field: "ancestor_path", expected: `a list of at most ${MOST_LEVELS} call ids` });
}

/** Notes what is wrong with the attempt at a model call that an event is about. */
export function checkAttempt(value: JsonObject, issues: DecodeIssue[]): void {
  const { attempt, model } = value;
  expectText(model, "model", issues);
  if (typeof attempt === "number" && Number.isSafeInteger(attempt) && attempt >= 1) return;
  issues.push({ field: "attempt", expected: "a whole number from 1 below 2^53" });
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
