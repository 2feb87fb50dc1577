import type { ModelCallUsage, OutputMessage } from "../../events/door.ts";
import {
  answeredBy,
  type Fields,
  fieldsOf,
  listOf,
  modelIn,
  reasonIn,
  renamedProvider,
  routedIn,
  textOf,
  tokensIn,
} from "../core/door.ts";
import { metadataOf } from "./answer-metadata.ts";
import { answerMessage } from "./messages.ts";

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
    nameOf(serialized)
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
    return renamedProvider(name) ?? name;
  }
  const lower = name.toLowerCase();
  return renamedProvider(lower) ?? (NAMED_BY_CLASS.has(lower) ? lower : undefined);
}

/** The class that LangChain serialized: the last part of its ID. */
export function classOf(serialized: Fields | undefined): string | undefined {
  const id = listOf(serialized?.id);
  return id === undefined ? undefined : textOf(id[id.length - 1]);
}

/** Names of classes in minified code are shorter. */
const SHORTEST_NAME = 4;

/** The name of something that has only that of its class. `undefined`: the class has no readable name. */
export function nameOf(serialized: Fields | undefined): string | undefined {
  const name = classOf(serialized);
  return name === undefined || name.length < SHORTEST_NAME ? undefined : name;
}

/** What a model answered. */
export interface Answer {
  /** Who answered, if the request names another provider. */
  readonly provider: string | undefined;
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
 * @param asked the provider that the request names.
 * @param cached whether the answer is from LangChain's cache. Its usage belongs to another call then.
 * @param reads whether the sink reads content.
 */
export function answerOf(
  result: Fields | undefined,
  asked: string | undefined,
  cached: boolean,
  reads: boolean,
): Answer {
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
      const ends = {
        asks: (listOf(message?.tool_calls) ?? []).length > 0,
        refuses: textOf(fieldsOf(message?.additional_kwargs)?.refusal) !== undefined,
      };
      const reason = reasonIn(metadata, ends);
      if (reason !== undefined) finishReasons.push(reason);
      first ??= message;
      responseModel ??= modelIn(metadata);
      usage ??= tokensIn(message?.usage_metadata);
      output?.push(answerMessage(message ?? { type: "ai", content: fields?.text }, reason));
    }
  }
  const info = fieldsOf(first?.response_metadata);
  const whole = fieldsOf(result?.llmOutput);
  const model = responseModel ?? textOf(whole?.model_name);
  const routed = routedIn(fieldsOf(fieldsOf(first?.additional_kwargs)?.__raw_response));
  const names = { responseModel: model, routed, client: textOf(info?.model_provider) };
  return {
    provider: cached ? undefined : answeredBy(asked, names),
    usage: cached ? undefined : (usage ?? tokensIn(whole?.tokenUsage ?? whole?.usage)),
    responseModel: model,
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
