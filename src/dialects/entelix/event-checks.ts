import type {
  Complete,
  Failed,
  Interrupted,
  Started,
  ToolCallApproved,
  ToolCallDenied,
  ToolComplete,
  ToolError,
  ToolStart,
} from "../../events/agent-event.ts";
import type { DecodeIssue, JsonObject } from "../dialect.ts";
import {
  expectContent,
  expectMilliseconds,
  expectName,
  expectOptionalText,
  expectText,
} from "../field-checks.ts";
import {
  checkErrorEnvelope,
  checkFailureKind,
  checkInterruptionKind,
  checkToolErrorKind,
  checkUsage,
} from "./value-checks.ts";

// One check an event type. What is wrong is added to `issues`, which must be empty before; an event
// without issues is what its type says. Fields that are not named here pass unseen.

export function isStarted(value: JsonObject, issues: DecodeIssue[]): value is JsonObject & Started {
  checkRun(value, issues);
  expectOptionalText(value.parent_run_id, "parent_run_id", issues);
  expectText(value.agent, "agent", issues);
  return issues.length === 0;
}

export function isToolStart(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ToolStart {
  checkTool(value, issues);
  expectOptionalText(value.tool_version, "tool_version", issues);
  expectContent(value, "input", issues);
  return issues.length === 0;
}

export function isToolComplete(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ToolComplete {
  checkTool(value, issues);
  expectOptionalText(value.tool_version, "tool_version", issues);
  expectMilliseconds(value.duration_ms, "duration_ms", issues);
  expectContent(value, "output", issues);
  return issues.length === 0;
}

/** Its `error_for_llm` is recorded text: it went through the renderer when the event was sent. */
export function isToolError(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ToolError {
  checkTool(value, issues);
  expectOptionalText(value.tool_version, "tool_version", issues);
  expectText(value.error, "error", issues);
  expectText(value.error_for_llm, "error_for_llm", issues);
  checkErrorEnvelope(value.envelope, issues);
  if (value.kind !== undefined) checkToolErrorKind(value.kind, "kind", issues);
  expectMilliseconds(value.duration_ms, "duration_ms", issues);
  return issues.length === 0;
}

export function isToolCallApproved(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ToolCallApproved {
  checkTool(value, issues);
  return issues.length === 0;
}

export function isToolCallDenied(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & ToolCallDenied {
  checkTool(value, issues);
  expectText(value.reason, "reason", issues);
  return issues.length === 0;
}

export function isComplete(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & Complete {
  checkRun(value, issues);
  expectContent(value, "state", issues);
  checkUsage(value.usage, issues);
  return issues.length === 0;
}

export function isFailed(value: JsonObject, issues: DecodeIssue[]): value is JsonObject & Failed {
  checkRun(value, issues);
  expectText(value.error, "error", issues);
  checkErrorEnvelope(value.envelope, issues);
  if (value.kind !== undefined) checkFailureKind(value.kind, issues);
  return issues.length === 0;
}

export function isInterrupted(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & Interrupted {
  checkRun(value, issues);
  checkInterruptionKind(value.kind, issues);
  expectContent(value, "payload", issues);
  return issues.length === 0;
}

/** Every event names its run and tenant. */
export function checkRun(value: JsonObject, issues: DecodeIssue[]): void {
  expectText(value.run_id, "run_id", issues);
  expectName(value.tenant_id, "tenant_id", issues);
}

function checkTool(value: JsonObject, issues: DecodeIssue[]): void {
  checkRun(value, issues);
  expectText(value.tool_use_id, "tool_use_id", issues);
  expectText(value.tool, "tool", issues);
}
