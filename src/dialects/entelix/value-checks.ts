import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../errors/error-kinds.ts";
import type { JsonValue } from "../../events/exact-json.ts";
import { type DecodeIssue, isJsonObject } from "../dialect.ts";
import { expectCount, expectText } from "../field-checks.ts";

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** Notes what is wrong with an `ErrorEnvelope`. */
export function checkErrorEnvelope(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "envelope", expected: "an object with wire_code and wire_class" });
    return;
  }
  expectText(value.wire_code, "envelope.wire_code", issues);
  expectOneOf(["client", "server"], value.wire_class, "envelope.wire_class", issues);
  const { retry_after_secs, provider_status } = value;
  if (retry_after_secs !== undefined) {
    expectCount(retry_after_secs, "envelope.retry_after_secs", issues);
  }
  if (provider_status !== undefined) {
    expectNumber(provider_status, "envelope.provider_status", issues);
  }
}

/** Notes what is wrong with a `ToolErrorKind`. */
export function checkToolErrorKind(
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  expectOneOf(TOOL_ERROR_KINDS, value, field, issues);
}

/** Notes what is wrong with a `FailureKind`. */
export function checkFailureKind(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "kind", expected: 'an object such as {"type":"cancelled"}' });
    return;
  }
  expectOneOf(FAILURE_KIND_IDS, value.type, "kind.type", issues);
  if (value.type !== "tool_error_terminal") return;
  checkToolErrorKind(value.kind, "kind.kind", issues);
  expectText(value.tool_name, "kind.tool_name", issues);
}

/** Notes what is wrong with an `InterruptionKind`. */
export function checkInterruptionKind(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (!isJsonObject(value)) {
    issues.push({ field: "kind", expected: 'an object such as {"type":"custom"}' });
    return;
  }
  switch (value.type) {
    case "custom":
      return;
    case "approval_pending":
      expectText(value.tool_use_id, "kind.tool_use_id", issues);
      return;
    case "scheduled_pause":
      expectOneOf(["before", "after"], value.phase, "kind.phase", issues);
      expectText(value.node, "kind.node", issues);
      return;
    default:
      issues.push({ field: "kind.type", expected: "the name of an interruption kind" });
  }
}

/** Notes what is wrong with a `UsageSnapshot`; `null` and absent are a run without a budget. */
export function checkUsage(value: JsonValue | undefined, issues: DecodeIssue[]): void {
  if (value === undefined || value === null) return;
  if (!isJsonObject(value)) {
    issues.push({ field: "usage", expected: "a usage object, or null" });
    return;
  }
  expectNumber(value.requests, "usage.requests", issues);
  expectCount(value.input_tokens, "usage.input_tokens", issues);
  expectCount(value.output_tokens, "usage.output_tokens", issues);
  expectNumber(value.tool_calls, "usage.tool_calls", issues);
  if (typeof value.cost_usd !== "string" || !DECIMAL.test(value.cost_usd)) {
    issues.push({ field: "usage.cost_usd", expected: 'a decimal number as text, such as "0.30"' });
  }
}

function expectOneOf(
  names: readonly string[],
  value: JsonValue | undefined,
  field: string,
  issues: DecodeIssue[],
): void {
  if (typeof value !== "string" || !names.includes(value)) {
    issues.push({ field, expected: `one of ${names.join(", ")}` });
  }
}

function expectNumber(value: JsonValue | undefined, field: string, issues: DecodeIssue[]): void {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    issues.push({ field, expected: "a whole number from 0 below 2^53" });
  }
}
