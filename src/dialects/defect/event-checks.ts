import { type DecodeIssue, isJsonObject, type JsonObject } from "../dialect.ts";
import { expectCount, expectOptionalText, expectText } from "../field-checks.ts";
import type { DefectEvent, LeafEvent, Subagent } from "./defect-event.ts";
import {
  checkAncestors,
  checkAttempt,
  checkBlock,
  checkBlocks,
  checkOutcome,
  checkToolCallFields,
  checkUsage,
  checkVerdict,
} from "./value-checks.ts";

/**
 * Whether a line, whose type is known, is a good event. What is wrong is added to `issues`, which
 * must be empty before. Fields that are not named here pass unseen.
 */
export function isDefectEvent(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & DefectEvent {
  return value.type === "subagent" ? isSubagent(value, issues) : isLeaf(value, issues);
}

function isSubagent(value: JsonObject, issues: DecodeIssue[]): value is JsonObject & Subagent {
  checkAncestors(value.ancestor_path, issues);
  expectText(value.agent_type, "agent_type", issues);
  const { inner } = value;
  if (!isJsonObject(inner)) {
    issues.push({ field: "inner", expected: 'an event such as {"type":"turn_started"}' });
  } else if (typeof inner.type !== "string" || inner.type === "subagent") {
    issues.push({ field: "inner.type", expected: "the type of an event that is no subagent" });
  } else {
    const inside: DecodeIssue[] = [];
    isLeaf(inner, inside);
    for (const { field, expected } of inside) issues.push({ field: `inner.${field}`, expected });
  }
  return issues.length === 0;
}

function isLeaf(value: JsonObject, issues: DecodeIssue[]): value is JsonObject & LeafEvent {
  switch (value.type) {
    case "user_prompt_committed":
      checkBlocks(value.content, "content", issues);
      break;
    case "turn_ended":
      expectText(value.reason, "reason", issues);
      checkUsage(value.usage, issues);
      break;
    case "assistant_text":
    case "assistant_thought":
      checkBlock(value.content, "content", issues);
      break;
    case "tool_call_started":
      expectText(value.id, "id", issues);
      expectText(value.name, "name", issues);
      checkToolCallFields(value.fields, issues);
      break;
    case "tool_call_progress":
    case "tool_call_finished":
      expectText(value.id, "id", issues);
      checkToolCallFields(value.fields, issues);
      break;
    case "policy_decision":
      expectText(value.id, "id", issues);
      checkVerdict(value.decision, issues);
      break;
    case "permission_resolved":
      expectText(value.id, "id", issues);
      checkOutcome(value.outcome, issues);
      break;
    case "llm_call_started":
      checkAttempt(value, issues);
      break;
    case "llm_call_finished":
      checkAttempt(value, issues);
      checkUsage(value.usage, issues);
      expectOptionalText(value.error, "error", issues);
      break;
    case "context_compressed":
      checkTokens(value, issues);
      break;
    case "context_microcompacted":
      checkTokens(value, issues);
      expectCount(value.cleared, "cleared", issues);
      break;
    default:
    // `turn_started` and `turn_aborted` have no fields.
  }
  return issues.length === 0;
}

function checkTokens(value: JsonObject, issues: DecodeIssue[]): void {
  expectCount(value.tokens_before, "tokens_before", issues);
  expectCount(value.tokens_after, "tokens_after", issues);
}
