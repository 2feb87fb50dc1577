import type { ModelCallUsage } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "./narrow.ts";

// How an answer ended and what it used, in the forms of the providers (Chat Completions, Responses, Anthropic, Gemini,
// Bedrock, Cohere) and of the frameworks, which rename their fields.

type Sources = readonly (Fields | undefined)[];

/**
 * Why an answer ended, in the provider's word. `undefined`: nothing says so.
 *
 * @param sources the objects that may say it, best first.
 * @param answer whether it asks for tools, and whether it refuses. Some providers say this only so.
 */
export function reasonIn(
  sources: Sources,
  answer: { readonly asks?: boolean; readonly refuses?: boolean } = {},
): string | undefined {
  const reason = firstText(sources, givenReason) ?? statusIn(sources, answer.asks === true);
  const isPlain = reason === undefined || reason === "stop";
  return isPlain && answer.refuses === true ? "refusal" : reason;
}

/** The Responses API has a status, and the reason of an incomplete answer. Gemini says why it blocked a prompt. */
function statusIn(sources: Sources, asks: boolean): string | undefined {
  for (const source of sources) {
    const why = textOf(fieldsOf(source?.incomplete_details)?.reason);
    if (why !== undefined) return why;
    switch (source?.status) {
      case "completed":
        return asks ? "tool_calls" : "stop";
      case "incomplete":
      case "failed":
      case "cancelled":
        return source.status;
      default:
    }
    const blocked = textOf(fieldsOf(source?.promptFeedback)?.blockReason);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

/** Whether parts of an answer refuse, or items whose content are such parts. */
export function refusesIn(items: unknown): boolean {
  for (const item of listOf(items) ?? []) {
    const fields = fieldsOf(item);
    if (fields === undefined) continue;
    if (fields.type === "refusal") return true;
    for (const part of listOf(fields.content) ?? []) {
      if (fieldsOf(part)?.type === "refusal") return true;
    }
  }
  return false;
}

/** The model that answered. */
export function modelIn(sources: Sources): string | undefined {
  return firstText(sources, givenModel);
}

// Every name is written out: reading fields by names from a list is ten times slower.

function firstText(
  sources: Sources,
  read: (source: Fields) => string | undefined,
): string | undefined {
  for (const source of sources) {
    const text = source === undefined ? undefined : read(source);
    if (text !== undefined) return text;
  }
  return undefined;
}

function givenReason(source: Fields): string | undefined {
  return (
    textOf(source.finish_reason) ??
    textOf(source.stop_reason) ??
    textOf(source.stopReason) ??
    textOf(source.finishReason) ??
    textOf(source.done_reason)
  );
}

function givenModel(source: Fields): string | undefined {
  return textOf(source.model_name) ?? textOf(source.model);
}

/**
 * What a model call used, in the conventions' words: input includes cached tokens, output includes reasoning tokens.
 * `undefined`: neither is known.
 */
export function tokensIn(given: unknown): ModelCallUsage | undefined {
  const usage = fieldsOf(given);
  if (usage === undefined) return undefined;
  const ofInput = inputDetails(usage);
  const ofOutput = outputDetails(usage);
  const input = inputTokens(usage) ?? countOf(ofInput?.total);
  const output = outputTokens(usage) ?? countOf(ofOutput?.total);
  if (input === null && output === null) return undefined;
  // Anthropic counts cached tokens beside the others.
  const besides = countOf(usage.cache_read_input_tokens);
  const writtenBesides = countOf(usage.cache_creation_input_tokens);
  return {
    input_tokens: input === null ? null : input + (besides ?? 0) + (writtenBesides ?? 0),
    output_tokens: output,
    cache_read_input_tokens:
      besides ??
      countOf(ofInput?.cached_tokens) ??
      countOf(ofInput?.cache_read) ??
      countOf(ofInput?.cacheReadTokens) ??
      countOf(ofInput?.cacheRead) ??
      countOf(usage.cachedInputTokens) ??
      countOf(usage.cachedContentTokenCount),
    cache_write_input_tokens:
      writtenBesides ??
      countOf(ofInput?.cache_write_tokens) ??
      countOf(ofInput?.cache_creation) ??
      countOf(ofInput?.cacheWriteTokens) ??
      countOf(ofInput?.cacheWrite) ??
      countOf(usage.cacheCreationInputTokens),
    reasoning_output_tokens:
      countOf(ofOutput?.reasoning_tokens) ??
      countOf(ofOutput?.reasoning) ??
      countOf(ofOutput?.reasoningTokens) ??
      countOf(usage.reasoningTokens),
  };
}

function inputTokens(usage: Fields): number | null {
  return (
    countOf(usage.input_tokens) ??
    countOf(usage.inputTokens) ??
    countOf(usage.prompt_tokens) ??
    countOf(usage.promptTokens) ??
    countOf(usage.promptTokenCount)
  );
}

function outputTokens(usage: Fields): number | null {
  return (
    countOf(usage.output_tokens) ??
    countOf(usage.outputTokens) ??
    countOf(usage.completion_tokens) ??
    countOf(usage.completionTokens) ??
    countOf(usage.candidatesTokenCount)
  );
}

/** The AI SDK's models have objects in the place of numbers. */
function inputDetails(usage: Fields): Fields | undefined {
  return (
    fieldsOf(usage.input_token_details) ??
    fieldsOf(usage.input_tokens_details) ??
    fieldsOf(usage.prompt_tokens_details) ??
    fieldsOf(usage.inputTokenDetails) ??
    fieldsOf(usage.inputDetails) ??
    fieldsOf(usage.inputTokens) ??
    fieldsOf(usage.details)
  );
}

function outputDetails(usage: Fields): Fields | undefined {
  return (
    fieldsOf(usage.output_token_details) ??
    fieldsOf(usage.output_tokens_details) ??
    fieldsOf(usage.completion_tokens_details) ??
    fieldsOf(usage.outputTokenDetails) ??
    fieldsOf(usage.outputDetails) ??
    fieldsOf(usage.outputTokens) ??
    fieldsOf(usage.details)
  );
}
