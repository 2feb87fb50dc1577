import type { AnyGraphEvent, ContentPart, GraphEvent } from "../../../audit/door.ts";
import { stringifyExact, wireWord } from "../../../events/door.ts";
import { isJsonObject } from "../dialect.ts";
import type {
  AgentSdkEvent,
  ContentBlock,
  ErrorEvent,
  Extras,
  QuestionAsked,
  ToolCallEnd,
  ToolRequiresConfirmation,
} from "./events.ts";
import type { OpenRun } from "./open-run.ts";
import type { Reading } from "./reading.ts";

/**
 * The audit row of an event, or `undefined` if it has no counterpart. Rows that need a value which the event lacks are
 * not made: a compaction counts tokens, the row characters; a usage limit row needs the limit.
 *
 * @param extras unknown fields. The row keeps them unchanged under `unknown_fields`.
 */
export function auditRow(
  event: AgentSdkEvent,
  reading: Reading,
  extras: Extras | undefined,
): AnyGraphEvent | undefined {
  const row = rowOf(event, reading);
  return row === undefined || extras === undefined ? row : { ...row, unknown_fields: extras };
}

/** Whether the rows of earlier events already have the content of this event. */
export function isRepeat(event: AgentSdkEvent, run: OpenRun): boolean {
  switch (event.type) {
    case "thinking":
      return run.lastThoughtId === event.message_id;
    case "refusal":
      return event.text == null || run.lastMessageId === event.message_id;
    case "tool_call_start":
      return run.wasAsked(event.id);
    default:
      return false;
  }
}

/** The question of a confirmation, for its row and the span of its pause. */
export function confirmationPayload(event: ToolRequiresConfirmation) {
  const { id, name, input, description } = event;
  return { tool_use_id: id, tool: name, input, description };
}

/** The questions, for the row and the span of the pause. */
export function questionPayload(event: QuestionAsked) {
  return { task_id: event.task_id, questions: event.questions };
}

function rowOf(event: AgentSdkEvent, reading: Reading): AnyGraphEvent | undefined {
  const { run } = reading;
  switch (event.type) {
    case "user_input":
      return {
        kind: "user_message",
        content: event.content.map(contentPart),
        timestamp: reading.timestamp,
      };
    case "text":
      return assistantMessage(event.text, reading.timestamp);
    case "refusal":
      if (event.text == null || isRepeat(event, run)) return undefined;
      return assistantMessage(event.text, reading.timestamp);
    case "thinking_delta":
      return { kind: "thinking_delta", text: event.delta, timestamp: reading.timestamp };
    case "thinking":
      if (isRepeat(event, run)) return undefined;
      return { kind: "thinking_delta", text: event.text, timestamp: reading.timestamp };
    case "tool_call_start":
      if (isRepeat(event, run)) return undefined;
      return {
        kind: "tool_call",
        id: event.id,
        name: event.name,
        input: event.input,
        timestamp: reading.timestamp,
      };
    case "tool_call_end":
      return toolResult(event, reading.timestamp);
    case "tool_requires_confirmation":
      return {
        kind: "interrupt",
        interruption_kind: { type: "approval_pending", tool_use_id: event.id },
        payload: confirmationPayload(event),
        timestamp: reading.timestamp,
      };
    case "question_asked":
      return {
        kind: "interrupt",
        interruption_kind: { type: "custom" },
        payload: questionPayload(event),
        timestamp: reading.timestamp,
      };
    case "cancelled":
      return {
        kind: "cancelled",
        reason: wireWord(event.reason?.reason) ?? "cancelled",
        timestamp: reading.timestamp,
      };
    case "error": {
      // The message is for operators and may quote a provider, so only the span has it.
      const name = errorClass(event, run);
      return { kind: "error", class: name, message: name, timestamp: reading.timestamp };
    }
    case "budget_exceeded": {
      const message = `budget exceeded: ${event.limit}`;
      return {
        kind: "error",
        class: "usage_limit_exceeded",
        message,
        timestamp: reading.timestamp,
      };
    }
    case "start":
    case "text_delta":
    case "tool_progress":
    case "turn_complete":
    case "done":
    case "auto_retry_start":
    case "auto_retry_end":
    case "context_compacted":
    case "subagent_progress":
    case "thread_created":
    case "account_rotation":
    case "account_pool_exhausted":
      return undefined;
    default:
      return event satisfies never;
  }
}

function assistantMessage(text: string, timestamp: string): GraphEvent {
  // The usage of a turn is reported after its tools, when this row is already stored.
  return { kind: "assistant_message", content: [{ type: "text", text }], usage: null, timestamp };
}

const OUTPUT_FIELDS: ReadonlySet<string> = new Set(["success", "output", "duration_ms"]);

/** Only the output is given to the model. Other fields of the result are kept in `result`. */
function toolResult({ id, name, result }: ToolCallEnd, timestamp: string): AnyGraphEvent {
  const { output: content, success } = result;
  const row: GraphEvent = {
    kind: "tool_result",
    tool_use_id: id,
    name,
    content,
    is_error: !success,
    timestamp,
  };
  const more = Object.entries(result).filter(
    ([field, value]) => value != null && !OUTPUT_FIELDS.has(field),
  );
  return more.length === 0 ? row : { ...row, result: Object.fromEntries(more) };
}

function errorClass({ reason }: ErrorEvent, run: OpenRun): string {
  if (run.retriesUsedUp || reason?.reason === "provider_error") return "provider";
  return wireWord(reason?.reason) ?? "unclassified";
}

/**
 * A block of a user's input as a part of an audit row, with all its fields. Text, images and documents have a form of
 * their own. Any other block becomes its JSON as text.
 */
export function contentPart(block: ContentBlock): ContentPart {
  const { type, text, source } = block;
  if (type === "text" && typeof text === "string") return { ...block, type, text };
  if ((type === "image" || type === "document") && isJsonObject(source)) {
    const { data, media_type } = source;
    if (typeof data === "string" && typeof media_type === "string") {
      return { ...block, type, source: { ...source, kind: "base64", media_type, data } };
    }
  }
  return { type: "text", text: stringifyExact(block) };
}
