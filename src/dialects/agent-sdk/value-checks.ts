import type { JsonValue } from "../../events/exact-json.ts";
import { type DecodeIssue, isJsonObject } from "../dialect.ts";
import { expectCount, expectText, isCount } from "../field-checks.ts";

/** Notes the field as wrong unless it is `true` or `false`. */
export function expectFlag(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (typeof value !== "boolean") issues.push({ field, expected: "true or false" });
}

/** Notes the field as wrong unless it is a whole number from 0, `null` or absent. */
export function expectOptionalCount(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (value === null || value === undefined || isCount(value)) return;
  issues.push({ field, expected: "a whole number from 0, or null" });
}

/** Notes what is wrong with a `TokenUsage`. */
export function checkTokenUsage(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (!isJsonObject(value)) {
    issues.push({ field, expected: "an object with input_tokens and output_tokens" });
    return;
  }
  expectCount(value.input_tokens, `${field}.input_tokens`, issues);
  expectCount(value.output_tokens, `${field}.output_tokens`, issues);
  // Upstream reads them as 0 where they were left out; null it refuses.
  if (value.cached_input_tokens !== undefined) {
    expectCount(value.cached_input_tokens, `${field}.cached_input_tokens`, issues);
  }
  if (value.cache_creation_input_tokens !== undefined) {
    expectCount(value.cache_creation_input_tokens, `${field}.cache_creation_input_tokens`, issues);
  }
}

/** Notes what is wrong with a `ToolResult`. */
export function checkToolResult(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "result", expected: "an object with success and output" });
    return;
  }
  expectFlag(value.success, "result.success", issues);
  expectText(value.output, "result.output", issues);
  expectOptionalCount(value.duration_ms, "result.duration_ms", issues);
  const { documents } = value;
  if (documents !== undefined && documents !== null && !Array.isArray(documents)) {
    issues.push({ field: "result.documents", expected: "a list, or null" });
  }
}

/** Notes what is wrong with a user's input; blocks of unknown types pass. */
export function checkContent(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!Array.isArray(value)) {
    issues.push({ field: "content", expected: "a list of content blocks" });
    return;
  }
  for (const [index, block] of value.entries()) {
    if (isJsonObject(block) && typeof block.type === "string") continue;
    issues.push({ field: `content[${index}].type`, expected: 'a block type such as "text"' });
  }
}

/** Notes what is wrong with the length of a run: `{secs, nanos}` or milliseconds, under either name. */
export function checkDuration(
  value: JsonValue | undefined,
  other: JsonValue | undefined,
  issues: DecodeIssue[],
): void {
  const duration = value ?? other;
  if (isCount(duration)) return;
  if (isJsonObject(duration) && isCount(duration.secs) && isCount(duration.nanos)) return;
  const field = value == null && other != null ? "duration" : "duration_ms";
  issues.push({ field, expected: "milliseconds from 0, or {secs, nanos}" });
}

/** Notes what is wrong with a `TerminalReason`; `null` and absent are an agent before 0.14. */
export function checkReason(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (value === undefined || value === null) return;
  if (isJsonObject(value) && typeof value.reason === "string") return;
  issues.push({ field: "reason", expected: 'an object such as {"reason":"budget"}, or null' });
}

/** Notes what is wrong with an estimate in US dollars; `null` and absent are none. */
export function checkCost(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (value === undefined || value === null || typeof value === "bigint") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  issues.push({ field: "estimated_cost_usd", expected: "a number, or null" });
}
