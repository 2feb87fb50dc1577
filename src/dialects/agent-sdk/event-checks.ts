import type { DecodeIssue, JsonObject } from "../dialect.ts";
import {
  expectContent,
  expectCount,
  expectName,
  expectOptionalText,
  expectText,
} from "../field-checks.ts";
import type { AgentSdkEvent, AgentSdkEventType } from "./events.ts";
import {
  checkContent,
  checkCost,
  checkDuration,
  checkReason,
  checkTokenUsage,
  checkToolResult,
  expectFlag,
  expectOptionalCount,
} from "./value-checks.ts";

/** Notes what is wrong with an event. */
type Check = (value: JsonObject, issues: DecodeIssue[]) => void;

/** What is checked of each event type: what this package reads, and that it can be told apart. */
const CHECKS: Readonly<Record<AgentSdkEventType, Check>> = {
  start(value, issues) {
    expectName(value.thread_id, "thread_id", issues);
    expectCount(value.turn, "turn", issues);
    checkEmitter(value, issues);
  },
  user_input(value, issues) {
    expectName(value.thread_id, "thread_id", issues);
    checkContent(value.content, issues);
    checkEmitter(value, issues);
  },
  thinking: checkWhole,
  text: checkWhole,
  thinking_delta: checkDelta,
  text_delta: checkDelta,
  tool_call_start(value, issues) {
    checkTool(value, issues);
    expectContent(value, "input", issues);
    expectText(value.tier, "tier", issues);
  },
  tool_call_end(value, issues) {
    checkTool(value, issues);
    checkToolResult(value.result, issues);
  },
  tool_progress(value, issues) {
    checkTool(value, issues);
    expectText(value.stage, "stage", issues);
    expectText(value.message, "message", issues);
  },
  tool_requires_confirmation(value, issues) {
    checkTool(value, issues);
    expectContent(value, "input", issues);
    expectText(value.description, "description", issues);
  },
  turn_complete(value, issues) {
    expectCount(value.turn, "turn", issues);
    checkTokenUsage(value.usage, "usage", issues);
    checkEmitter(value, issues);
  },
  done: checkEnded,
  budget_exceeded(value, issues) {
    checkEnded(value, issues);
    expectText(value.limit, "limit", issues);
  },
  error(value, issues) {
    expectText(value.message, "message", issues);
    expectFlag(value.recoverable, "recoverable", issues);
    checkReason(value.reason, issues);
    checkEmitter(value, issues);
  },
  auto_retry_start(value, issues) {
    expectCount(value.attempt, "attempt", issues);
    expectCount(value.max_attempts, "max_attempts", issues);
    expectCount(value.delay_ms, "delay_ms", issues);
    expectText(value.error_message, "error_message", issues);
  },
  auto_retry_end(value, issues) {
    expectCount(value.attempt, "attempt", issues);
    expectFlag(value.success, "success", issues);
    expectOptionalText(value.final_error, "final_error", issues);
  },
  refusal(value, issues) {
    expectText(value.message_id, "message_id", issues);
    expectOptionalText(value.text, "text", issues);
  },
  cancelled(value, issues) {
    expectCount(value.turn, "turn", issues);
    checkTokenUsage(value.usage, "usage", issues);
    checkReason(value.reason, issues);
    checkEmitter(value, issues);
  },
  context_compacted(value, issues) {
    expectCount(value.original_count, "original_count", issues);
    expectCount(value.new_count, "new_count", issues);
    expectCount(value.original_tokens, "original_tokens", issues);
    expectCount(value.new_tokens, "new_tokens", issues);
  },
  subagent_progress(value, issues) {
    expectText(value.subagent_id, "subagent_id", issues);
    expectText(value.subagent_name, "subagent_name", issues);
    expectOptionalText(value.nickname, "nickname", issues);
    expectOptionalText(value.child_thread_id, "child_thread_id", issues);
    expectOptionalText(value.child_root_task_id, "child_root_task_id", issues);
    expectOptionalText(value.subagent_task_id, "subagent_task_id", issues);
    expectOptionalCount(value.max_turns, "max_turns", issues);
    expectOptionalCount(value.current_turn, "current_turn", issues);
    expectOptionalText(value.model, "model", issues);
    expectText(value.tool_name, "tool_name", issues);
    expectText(value.tool_context, "tool_context", issues);
    expectFlag(value.completed, "completed", issues);
    expectFlag(value.success, "success", issues);
    expectCount(value.tool_count, "tool_count", issues);
    expectCount(value.total_tokens, "total_tokens", issues);
  },
  thread_created(value, issues) {
    expectName(value.thread_id, "thread_id", issues);
    expectOptionalText(value.source_thread_id, "source_thread_id", issues);
  },
  question_asked(value, issues) {
    expectText(value.task_id, "task_id", issues);
    if (!Array.isArray(value.questions)) {
      issues.push({ field: "questions", expected: "a list of questions" });
    }
  },
  account_rotation(value, issues) {
    expectText(value.provider, "provider", issues);
    expectText(value.from_account, "from_account", issues);
    expectText(value.to_account, "to_account", issues);
    checkRetryAfter(value, issues);
  },
  account_pool_exhausted(value, issues) {
    expectText(value.provider, "provider", issues);
    expectCount(value.account_count, "account_count", issues);
    checkRetryAfter(value, issues);
  },
};

const BY_TYPE: ReadonlyMap<unknown, Check> = new Map(Object.entries(CHECKS));

/** Every event type of this vocabulary, 0.9 to 0.18. */
export const AGENT_SDK_EVENT_TYPES: readonly string[] = Object.keys(CHECKS);

/** Whether the type is one that this version knows. */
export function isKnownType(type: unknown): boolean {
  return BY_TYPE.has(type);
}

/** Whether an object is an event of a known type with its fields in order; what is wrong is noted. */
export function isAgentSdkEvent(
  value: JsonObject,
  issues: DecodeIssue[],
): value is JsonObject & AgentSdkEvent {
  const check = BY_TYPE.get(value.type);
  if (check === undefined) return false;
  check(value, issues);
  return issues.length === 0;
}

function checkWhole(value: JsonObject, issues: DecodeIssue[]): void {
  expectText(value.message_id, "message_id", issues);
  expectText(value.text, "text", issues);
  checkEmitter(value, issues);
}

function checkDelta(value: JsonObject, issues: DecodeIssue[]): void {
  expectText(value.message_id, "message_id", issues);
  expectText(value.delta, "delta", issues);
  checkEmitter(value, issues);
}

function checkTool(value: JsonObject, issues: DecodeIssue[]): void {
  expectText(value.id, "id", issues);
  expectText(value.name, "name", issues);
  expectText(value.display_name, "display_name", issues);
}

function checkEnded(value: JsonObject, issues: DecodeIssue[]): void {
  expectName(value.thread_id, "thread_id", issues);
  expectCount(value.total_turns, "total_turns", issues);
  checkTokenUsage(value.total_usage, "total_usage", issues);
  checkDuration(value.duration_ms, value.duration, issues);
  checkCost(value.estimated_cost_usd, issues);
  checkEmitter(value, issues);
}

function checkRetryAfter(value: JsonObject, issues: DecodeIssue[]): void {
  expectText(value.reason, "reason", issues);
  expectOptionalCount(value.retry_after_seconds, "retry_after_seconds", issues);
}

function checkEmitter(value: JsonObject, issues: DecodeIssue[]): void {
  expectOptionalText(value.emitter_task_id, "emitter_task_id", issues);
}
