import { type ContentNeed, readsRows } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf, tokensIn } from "../core/door.ts";
import { withoutBytes } from "./prompt-text.ts";
import type { RecordedSpan } from "./recorded-span.ts";

// Converts spans of the AI SDK 6 to events of the AI SDK 7, so that the same code reads both.

/** A call starts. */
export function startEvent(
  callId: string,
  operationId: string,
  span: RecordedSpan,
  need: ContentNeed,
): Fields {
  const asked = span.get("ai.prompt");
  const { messages, prompt } = promptIn(asked, need);
  const value = valuesOn(span);
  return {
    callId,
    operationId,
    functionId: span.get("ai.telemetry.functionId"),
    recordInputs: asked !== undefined || value !== undefined,
    messages: messages ?? listOf(prompt),
    prompt,
    value,
    runtimeContext: span.below("ai.telemetry.metadata."),
    sdk: 6,
  };
}

/** Parses the prompt only if the sink shows it or it may hold approval responses, because it can be long. */
function promptIn(text: unknown, need: ContentNeed): Fields {
  if (typeof text !== "string") return {};
  if (!readsRows(need) && !text.includes('"tool-approval-response"')) return {};
  return fieldsOf(parsed(withoutBytes(text))) ?? {};
}

/** A model request starts. */
export function requestEvent(span: RecordedSpan, need: ContentNeed): Fields {
  const asked = need === "all" ? fieldsIn(parsed(span.get("ai.prompt.messages"))) : [];
  const isSystem = ({ role }: Fields) => role === "system";
  const instructions = asked.filter(isSystem);
  return {
    provider: span.get("ai.model.provider") ?? span.get("gen_ai.system"),
    modelId: span.get("ai.model.id") ?? span.get("gen_ai.request.model"),
    temperature: span.get("gen_ai.request.temperature") ?? span.get("ai.settings.temperature"),
    topP: span.get("gen_ai.request.top_p") ?? span.get("ai.settings.topP"),
    topK: span.get("gen_ai.request.top_k") ?? span.get("ai.settings.topK"),
    maxOutputTokens:
      span.get("gen_ai.request.max_tokens") ?? span.get("ai.settings.maxOutputTokens"),
    frequencyPenalty: span.get("gen_ai.request.frequency_penalty"),
    presencePenalty: span.get("gen_ai.request.presence_penalty"),
    stopSequences: span.get("gen_ai.request.stop_sequences"),
    seed: span.get("ai.settings.seed"),
    messages: asked.filter((message) => !isSystem(message)),
    instructions: instructions.length === 0 ? undefined : instructions,
    tools: need === "all" ? listOf(span.get("ai.prompt.tools"))?.map(parsed) : undefined,
  };
}

/** An embedding model is asked. */
export function embeddingEvent(span: RecordedSpan): Fields {
  return {
    provider: span.get("ai.model.provider"),
    modelId: span.get("ai.model.id"),
    values: valuesOn(span),
  };
}

/** The texts that an embedding model gets, if the call's settings show them. */
function valuesOn(span: RecordedSpan): readonly unknown[] | undefined {
  const value = span.get("ai.value");
  return (value === undefined ? listOf(span.get("ai.values")) : [value])?.map(parsed);
}

/**
 * A model answered.
 *
 * @param answer the model's own answer. In older versions, the attributes have less.
 * @param content of the answer, if the call's settings show it.
 */
export function answerEvent(
  span: RecordedSpan,
  answer: Fields | undefined,
  content: unknown,
): Fields {
  const { finishReason, usage } = answer ?? {};
  return {
    finishReason: span.get("ai.response.finishReason"),
    rawFinishReason: fieldsOf(finishReason)?.raw,
    usage: tokensIn(usage) === undefined ? usageOn(span) : usage,
    response: { id: span.get("ai.response.id"), modelId: span.get("ai.response.model") },
    msToFirstChunk: span.get("ai.response.msToFirstChunk") ?? span.get("ai.stream.msToFirstChunk"),
    objectText: span.get("ai.response.object"),
    content,
  };
}

/** The output that the attributes show. */
export function contentOn(span: RecordedSpan): readonly Fields[] {
  const calls = fieldsIn(parsed(span.get("ai.response.toolCalls")));
  return [
    { type: "reasoning", text: textOf(span.get("ai.response.reasoning")) },
    { type: "text", text: textOf(span.get("ai.response.text")) },
    ...calls.map((call) => ({ ...call, type: "tool-call" })),
  ].filter((part) => !("text" in part) || part.text !== undefined);
}

function usageOn(span: RecordedSpan): Fields {
  return {
    inputTokens:
      span.get("ai.usage.inputTokens") ??
      span.get("ai.usage.promptTokens") ??
      span.get("gen_ai.usage.input_tokens"),
    inputTokenDetails: {
      cacheReadTokens: span.get("ai.usage.cachedInputTokens"),
      cacheWriteTokens: span.get("ai.usage.inputTokenDetails.cacheWriteTokens"),
    },
    outputTokens:
      span.get("ai.usage.outputTokens") ??
      span.get("ai.usage.completionTokens") ??
      span.get("gen_ai.usage.output_tokens"),
    outputTokenDetails: { reasoningTokens: span.get("ai.usage.reasoningTokens") },
  };
}

/** The texts that the model received for failed calls, by call ID. */
export function errorTextsIn(span: RecordedSpan): ReadonlyMap<unknown, string> {
  const messages = fieldsIn(parsed(span.get("ai.prompt.messages")));
  const texts = new Map<unknown, string>();
  for (const part of messages.flatMap(({ content }) => fieldsIn(content))) {
    const output = fieldsOf(part.output);
    const text = output?.type === "error-text" ? textOf(output.value) : undefined;
    if (text !== undefined) texts.set(part.toolCallId, text);
  }
  return texts;
}

/** The tools that a model was offered, by name. */
export function toolsOn(span: RecordedSpan): unknown {
  const tools = fieldsIn((listOf(span.get("ai.prompt.tools")) ?? []).map(parsed));
  return Object.fromEntries(tools.map((tool) => [String(tool.name), tool]));
}

export function fieldsIn(list: unknown): readonly Fields[] {
  return (listOf(list) ?? []).map(fieldsOf).filter((each) => each !== undefined);
}

/** Parses JSON text. `undefined` if it is invalid. */
export function parsed(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
