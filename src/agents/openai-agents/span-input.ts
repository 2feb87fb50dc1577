import { type ContentNeed, type InputMessage, parseExact, readsRows } from "../../events/door.ts";
import { textOf } from "../core/door.ts";
import { noteQuestion } from "./run-content.ts";
import type { SdkSpanData } from "./sdk.ts";
import { type AgentRun, isOwnModelCall, type OpenModel, type TraceRecord } from "./trace-record.ts";

/**
 * The input of a tool. The SDK has it as JSON text. Other text, such as a search query, is unchanged. So is JSON that
 * is not an object, because it may be such a text.
 *
 * @param input of a span, or of a call that the model asked for.
 */
export function toolInput(input: unknown): unknown {
  const text = textOf(input);
  if (text === undefined) return input === "" ? undefined : input;
  if (!text.startsWith("{")) return text;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** The output of a tool. Without sensitive data, the SDK leaves input and output empty, so it is unknown. */
export function toolOutput({ input, output }: SdkSpanData): unknown {
  return output === "" && input === "" ? undefined : output;
}

/** The request's input as the SDK has it, if the span already does. */
export function givenIn({ _input, input, type }: SdkSpanData): unknown {
  return type === "response" ? _input : input;
}

/** The model's input, if the span already has it and the sink reads it. Keeps the agent's question. */
export function modelInput(
  trace: TraceRecord,
  run: AgentRun,
  open: OpenModel,
  need: ContentNeed,
): readonly InputMessage[] | undefined {
  const given = givenIn(open.span.spanData);
  if (given === undefined || given === null) return undefined;
  const isQuestion = isOwnModelCall(open) && run.question === undefined;
  if (!readsRows(need) || (need === "rows" && !isQuestion)) return undefined;
  const messages = run.writer.conversation.messages(given);
  if (isQuestion) noteQuestion(trace, run, messages);
  return messages;
}
