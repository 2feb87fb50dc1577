import type { ModelCallUsage, OutputMessage } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import { metadataOf, modelIn, reasonIn } from "./answer-metadata.ts";
import { answerMessage } from "./messages.ts";

/** Providers that LangChain and the GenAI conventions name differently. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["amazon_bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure_openai", "azure.ai.openai"],
  ["google", "gcp.gemini"],
  ["google_genai", "gcp.gemini"],
  ["google_vertexai", "gcp.vertex_ai"],
  ["ibm", "ibm.watsonx.ai"],
  ["mistral", "mistral_ai"],
  ["mistralai", "mistral_ai"],
  ["watsonx", "ibm.watsonx.ai"],
  ["xai", "x_ai"],
]);

/** The requested model: from `getLsParams`, else from the call's parameters. */
export function modelNameOf(
  serialized: Fields | undefined,
  extra: Fields | undefined,
  metadata: Fields | undefined,
): string | undefined {
  const known = textOf(metadata?.ls_model_name);
  if (known !== undefined) return known;
  const parameters = fieldsOf(extra?.invocation_params);
  const kwargs = fieldsOf(serialized?.kwargs);
  return (
    textOf(parameters?.model) ??
    textOf(parameters?.model_name) ??
    textOf(kwargs?.model) ??
    textOf(kwargs?.model_name) ??
    classOf(serialized)
  );
}

/** Providers whose name is the lower-case class name of their model, without `Chat`. */
const NAMED_BY_CLASS: ReadonlySet<string> = new Set([
  "anthropic",
  "cohere",
  "deepseek",
  "groq",
  "openai",
  "perplexity",
]);

/**
 * The provider, as the conventions name it.
 *
 * @param model the class of the model. LangChain may derive a provider's name from it. Such a name counts only if it
 *    is in `NAMED_BY_CLASS`.
 */
export function providerOf(
  metadata: Fields | undefined,
  model?: string | undefined,
): string | undefined {
  const name = textOf(metadata?.ls_provider);
  if (name === undefined) return undefined;
  if (model === undefined || (name !== model && `Chat${name}` !== model)) {
    return PROVIDERS.get(name) ?? name;
  }
  const lower = name.toLowerCase();
  return PROVIDERS.get(lower) ?? (NAMED_BY_CLASS.has(lower) ? lower : undefined);
}

/** The class that LangChain serialized: the last part of its ID. */
export function classOf(serialized: Fields | undefined): string | undefined {
  const id = listOf(serialized?.id);
  return id === undefined ? undefined : textOf(id[id.length - 1]);
}

/** What a model answered. */
export interface Answer {
  readonly usage: ModelCallUsage | undefined;
  readonly responseModel: string | undefined;
  readonly responseId: string | undefined;
  readonly finishReasons: readonly string[] | undefined;
  /** Content. */
  readonly output: readonly OutputMessage[] | undefined;
  readonly toolCalls: readonly unknown[];
  /** Tool calls whose input is not JSON. */
  readonly unreadableCalls: unknown;
}

/**
 * Reads LangChain's `LLMResult`.
 *
 * @param cached whether the answer is from LangChain's cache. Its usage belongs to another call then.
 * @param reads whether the sink reads content.
 */
export function answerOf(result: Fields | undefined, cached: boolean, reads: boolean): Answer {
  const output: OutputMessage[] | undefined = reads ? [] : undefined;
  const finishReasons: string[] = [];
  let usage: ModelCallUsage | undefined;
  let first: Fields | undefined;
  let responseModel: string | undefined;
  for (const batch of listOf(result?.generations) ?? []) {
    for (const generation of listOf(batch) ?? []) {
      const fields = fieldsOf(generation);
      const message = fieldsOf(fields?.message);
      const metadata = metadataOf(fields, message);
      const reason = reasonIn(metadata);
      if (reason !== undefined) finishReasons.push(reason);
      first ??= message;
      responseModel ??= modelIn(metadata);
      usage ??= usageOf(fieldsOf(message?.usage_metadata));
      output?.push(answerMessage(message ?? { type: "ai", content: fields?.text }, reason));
    }
  }
  const info = fieldsOf(first?.response_metadata);
  const whole = fieldsOf(result?.llmOutput);
  return {
    usage: cached ? undefined : (usage ?? olderUsage(whole)),
    responseModel: responseModel ?? textOf(whole?.model_name),
    responseId: textOf(info?.id) ?? givenId(first?.id),
    finishReasons: finishReasons.length > 0 ? finishReasons : undefined,
    output,
    toolCalls: listOf(first?.tool_calls) ?? [],
    unreadableCalls: first?.invalid_tool_calls,
  };
}

/** Response IDs, without the IDs that LangChain generates. */
function givenId(id: unknown): string | undefined {
  const text = textOf(id);
  return text === undefined || text.startsWith("run-") || text.startsWith("lc_") ? undefined : text;
}

/** Reads `usage_metadata`. Input includes cached tokens. */
function usageOf(given: Fields | undefined): ModelCallUsage | undefined {
  if (given === undefined) return undefined;
  const input = fieldsOf(given.input_token_details);
  const output = fieldsOf(given.output_token_details);
  return {
    input_tokens: countOf(given.input_tokens),
    output_tokens: countOf(given.output_tokens),
    cache_read_input_tokens: countOf(input?.cache_read),
    cache_write_input_tokens: countOf(input?.cache_creation),
    reasoning_output_tokens: countOf(output?.reasoning),
  };
}

/** Reads usage of versions without `usage_metadata`. */
function olderUsage(whole: Fields | undefined): ModelCallUsage | undefined {
  const given = fieldsOf(whole?.tokenUsage) ?? fieldsOf(whole?.usage);
  if (given === undefined) return undefined;
  const input = countOf(given.promptTokens ?? given.input_tokens ?? given.prompt_tokens);
  const output = countOf(given.completionTokens ?? given.output_tokens ?? given.completion_tokens);
  return input === null && output === null
    ? undefined
    : { input_tokens: input, output_tokens: output };
}
