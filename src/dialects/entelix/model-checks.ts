import type { JsonValue } from "../../events/exact-json.ts";
import type { ModelComplete, ModelError, ModelStart } from "../../events/model-event.ts";
import { type DecodeIssue, isJsonObject, type JsonObject } from "../dialect.ts";
import {
  expectCount,
  expectMilliseconds,
  expectName,
  expectOptionalText,
  expectText,
} from "../field-checks.ts";
import { checkRun } from "./event-checks.ts";
import { checkErrorEnvelope, checkFailureKind } from "./value-checks.ts";

// As in `event-checks.ts`: one check an event type. Content (`input`, `output`) may be absent.

export function isModelStart(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ModelStart {
  checkModelCall(value, issues);
  expectOptionalText(value.provider, "provider", issues);
  return issues.length === 0;
}

export function isModelComplete(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ModelComplete {
  checkModelCall(value, issues);
  expectMilliseconds(value.duration_ms, "duration_ms", issues);
  if (isGiven(value.first_output_ms)) {
    expectMilliseconds(value.first_output_ms, "first_output_ms", issues);
  }
  checkModelUsage(value.usage, issues);
  expectOptionalText(value.response_model, "response_model", issues);
  expectOptionalText(value.response_id, "response_id", issues);
  checkFinishReasons(value.finish_reasons, issues);
  return issues.length === 0;
}

export function isModelError(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ModelError {
  checkModelCall(value, issues);
  expectMilliseconds(value.duration_ms, "duration_ms", issues);
  expectText(value.error, "error", issues);
  checkErrorEnvelope(value.envelope, issues);
  checkFailureKind(value.kind, issues);
  return issues.length === 0;
}

function checkModelCall(value: JsonObject, issues: DecodeIssue[]): void {
  checkRun(value, issues);
  expectName(value.model_call_id, "model_call_id", issues);
  expectOptionalText(value.model, "model", issues);
}

const USAGE_FIELDS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_write_input_tokens",
  "reasoning_output_tokens",
] as const;

function checkModelUsage(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isGiven(value)) return;
  if (!isJsonObject(value)) {
    issues.push({ field: "usage", expected: "a usage object, or null" });
    return;
  }
  for (const field of USAGE_FIELDS) {
    const count = value[field];
    if (isGiven(count)) expectCount(count, `usage.${field}`, issues);
  }
}

function checkFinishReasons(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isGiven(value)) return;
  if (!Array.isArray(value) || !value.every((reason) => typeof reason === "string")) {
    issues.push({ field: "finish_reasons", expected: "an array of text, or null" });
  }
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}
