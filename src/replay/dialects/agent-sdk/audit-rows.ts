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
 * The audit entry of an event, or `undefined` where it has no counterpart. Nothing is made up: a
 * compaction counts tokens here and characters there, and a breach there needs the limit, which is not
 * told here.
 *
 * @param extras fields that are not known: they stand in the entry, untouched, in a place of their own.
 */
export function auditRow(
  event: AgentSdkEvent,
  reading: Reading,
  extras: Extras | undefined,
): AnyGraphEvent | undefined {
  const row = rowOf(event, reading);
  return row === undefined || extras === undefined ? row : { ...row, unknown_fields: extras };
}

/** Whether the event repeats what the entries of earlier ones hold. */
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

/** What a confirmation asks, as the entry and the span of the pause have it. */
export function confirmationPayload(event: ToolRequiresConfirmation) {
  const { id, name, input, description } = event;
  return { tool_use_id: id, tool: name, input, description };
}

/** What the questions ask. */
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
      // The event's message is for operators, and may quote a provider: it is on the span.
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
  // What the turn used is told after its tools, when the message is in the log already.
  return { kind: "assistant_message", content: [{ type: "text", text }], usage: null, timestamp };
}

const OUTPUT_FIELDS: ReadonlySet<string> = new Set(["success", "output", "duration_ms"]);

/** The model is given the output alone; what else the tool returned stands beside it. */
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
 * A block of a user's input as a part of an audit entry, with whatever else it holds. Upstream admits
 * text, images and documents only; any other block becomes its JSON as text, so that nothing is lost.
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
