import {
  addDecimals,
  formatDecimal,
  inputMessages,
  outputMessages,
  readDecimal,
  roundedText,
} from "../../../events/door.ts";
import type { SpanKindName, ViewAttributes, ViewSpan, ViewValue } from "../../format.ts";
import { fieldsOf, numberIn, textIn } from "../../model/attributes.ts";
import { parsedJson } from "../../model/json-text.ts";

/** What a span of other instrumentation says of an agent. Its other attributes have no meaning for the page. */
export interface Reading {
  readonly kind: SpanKindName;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** Messages in any form that `toMessages` reads. */
  readonly input?: unknown;
  /** The answer, in any form that `toMessages` reads. */
  readonly output?: unknown;
  /** Why the model stopped, in the provider's word. */
  readonly finishReason?: string | undefined;
  readonly tool?: ToolReading | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Input tokens that came from a cache. */
  readonly cachedTokens?: number | undefined;
  /** Input tokens that were written to a cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** US dollars as decimal text. */
  readonly cost?: string | undefined;
  /** What a retrieval looked for, and what it found. */
  readonly query?: string | undefined;
  readonly documents?: unknown;
  readonly conversation?: string | undefined;
  readonly user?: string | undefined;
  /** It failed, although its status does not say so. */
  readonly error?: { readonly message: string | undefined } | undefined;
}

export interface ToolReading {
  readonly name?: string | undefined;
  readonly callId?: string | undefined;
  /** Values, or their JSON. */
  readonly input?: unknown;
  readonly output?: unknown;
}

/** Reads a span. @returns `undefined` if it has none of the names of this vocabulary. */
export interface Vocabulary {
  readonly name: string;
  readonly read: (span: ViewSpan) => Reading | undefined;
}

/** A reading with the names of the GenAI conventions. Names that the span has already are left out. */
export function conventional(reading: Reading, span: ViewSpan): ViewAttributes {
  const { finishReason, input, output, tool } = reading;
  const read: Record<string, ViewValue | undefined> = {
    "gen_ai.agent.name": reading.agent,
    "gen_ai.request.model": reading.model,
    "gen_ai.input.messages": jsonIn(() => inputMessages(input)),
    "gen_ai.output.messages": jsonIn(() =>
      outputMessages(output, finishReason === undefined ? undefined : [finishReason]),
    ),
    "gen_ai.tool.name": tool?.name,
    "gen_ai.tool.call.id": tool?.callId,
    "gen_ai.tool.call.arguments": valueText(tool?.input),
    "gen_ai.tool.call.result": valueText(resultIn(tool?.output)),
    "gen_ai.usage.input_tokens": reading.inputTokens,
    "gen_ai.usage.output_tokens": reading.outputTokens,
    "gen_ai.usage.cache_read.input_tokens":
      reading.cachedTokens ?? firstNumber(span.attributes, CACHE_READ),
    "gen_ai.usage.cache_creation.input_tokens":
      reading.cacheWriteTokens ?? firstNumber(span.attributes, CACHE_WRITE),
    "gen_ai.provider.name": firstText(span.attributes, PROVIDER),
    [reading.kind === "run" ? "entelix.agent.usage.cost" : "entelix.model.cost"]: reading.cost,
    "gen_ai.retrieval.query.text": reading.query,
    "gen_ai.retrieval.documents": valueText(reading.documents),
    "gen_ai.conversation.id": reading.conversation ?? firstText(span.attributes, CONVERSATION),
    "user.id": reading.user ?? firstText(span.attributes, USER),
    "entelix.run.tags": TAGS.map((name) => textsIn(span.attributes[name])).find(Boolean),
  };
  const added: Record<string, ViewValue> = listedMessages(span.attributes);
  for (const [name, value] of Object.entries(read)) {
    const isKnown = value === undefined || value === "" || Object.hasOwn(span.attributes, name);
    if (!isKnown) added[name] = value;
  }
  return added;
}

/** Messages that came as a list of values instead of JSON, as JSON. */
function listedMessages(attributes: ViewAttributes): Record<string, ViewValue> {
  const found: Record<string, ViewValue> = {};
  for (const name of MESSAGES) {
    const value = attributes[name];
    if (Array.isArray(value)) found[name] = JSON.stringify(value.map(parsed));
  }
  return found;
}

const MESSAGES = [
  "gen_ai.system_instructions",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
] as const;

/** Where instrumentations of several vocabularies have them. `ai.settings.context` is of the AI SDK 7. */
const CONVERSATION = [
  "session.id",
  "ai.settings.context.sessionId",
  "ai.settings.context.threadId",
] as const;
const USER = ["enduser.id", "ai.settings.context.userId"] as const;
/** Of OpenInference, of Langfuse. */
const TAGS = ["tag.tags", "langfuse.trace.tags"] as const;
const PROVIDER = ["gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"] as const;
const CACHE_READ = [
  "gen_ai.usage.cache_read_input_tokens",
  "llm.token_count.prompt_details.cache_read",
  "ai.usage.inputTokenDetails.cacheReadTokens",
  "ai.usage.cachedInputTokens",
] as const;
const CACHE_WRITE = [
  "gen_ai.usage.cache_creation_input_tokens",
  "llm.token_count.prompt_details.cache_write",
  "ai.usage.inputTokenDetails.cacheWriteTokens",
] as const;

/** The value of a JSON text; other values and other text stay as they are. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  return parsedJson(value) ?? value;
}

/** Messages of the state of a graph, `{ messages }`; the last one is its answer. Other values stay as they are. */
export function answerIn(value: unknown): unknown {
  const messages = fieldsOf(value)?.messages;
  return Array.isArray(messages) ? messages.at(-1) : value;
}

/** Whether LangChain's metadata of a span are those of a graph or agent that is no node of another one. */
export function isOuterGraph(integration: unknown, node: unknown): boolean {
  return node === undefined && (integration === "langgraph" || integration === CREATE_AGENT);
}

const CREATE_AGENT = "langchain_create_agent";

/** The sum of costs in US dollars, as decimal text. Values that are neither decimal text nor numbers count as 0. */
export function costOf(values: readonly unknown[]): string | undefined {
  let sum: ReturnType<typeof readDecimal>;
  for (const value of values) {
    // Costs are small: more digits than these are errors of binary fractions.
    const text = typeof value === "number" ? roundedText(value, 12) : value;
    const cost = readDecimal(text);
    if (cost !== undefined) sum = sum === undefined ? cost : addDecimals(sum, cost);
  }
  return sum === undefined ? undefined : formatDecimal(sum);
}

/** The first of these attributes that has text. */
export function firstText(
  attributes: ViewAttributes,
  names: readonly string[],
): string | undefined {
  return names.map((name) => textIn(attributes, name)).find((text) => text !== undefined);
}

/** The first of these attributes that has a number. */
export function firstNumber(
  attributes: ViewAttributes,
  names: readonly string[],
): number | undefined {
  return names.map((name) => numberIn(attributes, name)).find((value) => value !== undefined);
}

/** A list of texts, or its JSON. `undefined` if it has none. */
function textsIn(value: ViewValue | undefined): readonly string[] | undefined {
  const list: unknown = parsed(value);
  const texts = Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  return texts.length === 0 ? undefined : texts;
}

/** LangChain wraps the result of a tool in a message for the model. */
function resultIn(output: unknown): unknown {
  const value = parsed(output);
  const message = fieldsOf(value)?.output ?? value;
  if (fieldsOf(message)?.lc === undefined) return value;
  const part = inputMessages([message])[0]?.parts[0];
  return part?.type === "tool_call_response" ? part.response : value;
}

function valueText(value: unknown): string | undefined {
  return typeof value === "string" ? value : jsonIn(() => value);
}

/** `undefined` without a value, for an empty list, and for what is nested too deeply. */
function jsonIn(read: () => unknown): string | undefined {
  try {
    const value = read();
    const isNothing = value === null || (Array.isArray(value) && value.length === 0);
    return isNothing ? undefined : JSON.stringify(value);
  } catch {
    return undefined;
  }
}
