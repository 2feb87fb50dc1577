import type { ModelCallUsage } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "./narrow.ts";

// How an answer ended and what it used, in the forms of the providers (Chat Completions, Responses, Anthropic, Gemini,
// Bedrock, Cohere) and of the frameworks, which rename their fields.

const REASONS = ["finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason"];
const MODELS = ["model_name", "model"];

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
  const reason = firstText(sources, REASONS) ?? statusIn(sources, answer.asks === true);
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
  const isRefusal = (part: unknown) => fieldsOf(part)?.type === "refusal";
  return (listOf(items) ?? []).some((item) => {
    return isRefusal(item) || (listOf(fieldsOf(item)?.content) ?? []).some(isRefusal);
  });
}

/** The model that answered. */
export function modelIn(sources: Sources): string | undefined {
  return firstText(sources, MODELS);
}

function firstText(sources: Sources, names: readonly string[]): string | undefined {
  for (const fields of sources) {
    if (fields === undefined) continue;
    for (const name of names) {
      const text = textOf(fields[name]);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

const INPUT = ["input_tokens", "inputTokens", "prompt_tokens", "promptTokens", "promptTokenCount"];
const OUTPUT = [
  "output_tokens",
  "outputTokens",
  "completion_tokens",
  "completionTokens",
  "candidatesTokenCount",
];
const INPUT_DETAILS = [
  "input_token_details",
  "input_tokens_details",
  "prompt_tokens_details",
  "inputTokenDetails",
  "inputDetails",
  // The AI SDK's models have objects in the place of numbers.
  "inputTokens",
  "details",
];
const OUTPUT_DETAILS = [
  "output_token_details",
  "output_tokens_details",
  "completion_tokens_details",
  "outputTokenDetails",
  "outputDetails",
  "outputTokens",
  "details",
];
const CACHE_READ = ["cached_tokens", "cache_read", "cacheReadTokens", "cacheRead"];
const CACHE_WRITE = ["cache_write_tokens", "cache_creation", "cacheWriteTokens", "cacheWrite"];
const REASONING = ["reasoning_tokens", "reasoning", "reasoningTokens"];

/**
 * What a model call used, in the conventions' words: input includes cached tokens, output includes reasoning tokens.
 * `undefined`: neither is known.
 */
export function tokensIn(given: unknown): ModelCallUsage | undefined {
  const usage = fieldsOf(given);
  if (usage === undefined) return undefined;
  const ofInput = firstFields(usage, INPUT_DETAILS);
  const ofOutput = firstFields(usage, OUTPUT_DETAILS);
  const input = firstCount(usage, INPUT) ?? countOf(ofInput?.total);
  const output = firstCount(usage, OUTPUT) ?? countOf(ofOutput?.total);
  if (input === null && output === null) return undefined;
  const read = firstCount(ofInput, CACHE_READ) ?? countOf(usage.cachedInputTokens);
  const written = firstCount(ofInput, CACHE_WRITE) ?? countOf(usage.cacheCreationInputTokens);
  // Anthropic counts cached tokens beside the others.
  const besides = countOf(usage.cache_read_input_tokens);
  const writtenBesides = countOf(usage.cache_creation_input_tokens);
  return {
    input_tokens: input === null ? null : input + (besides ?? 0) + (writtenBesides ?? 0),
    output_tokens: output,
    cache_read_input_tokens: besides ?? read ?? countOf(usage.cachedContentTokenCount),
    cache_write_input_tokens: writtenBesides ?? written,
    reasoning_output_tokens: firstCount(ofOutput, REASONING) ?? countOf(usage.reasoningTokens),
  };
}

function firstCount(fields: Fields | undefined, names: readonly string[]): number | null {
  for (const name of names) {
    const count = countOf(fields?.[name]);
    if (count !== null) return count;
  }
  return null;
}

function firstFields(fields: Fields, names: readonly string[]): Fields | undefined {
  for (const name of names) {
    const found = fieldsOf(fields[name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
