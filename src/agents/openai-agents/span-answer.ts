import { type ModelCallUsage, type OutputMessage, outputMessages } from "../../events/door.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "../core/narrow.ts";
import type { SdkSpanData } from "./sdk.ts";
import { requestedModel } from "./span-request.ts";

/** A tool call that a model's answer asks for. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  /** The arguments as the model wrote them; content, compared and never sent. */
  readonly input: string | undefined;
  /** What is in a span's input that is about it, where that has more, as of OpenAI's own tools. */
  readonly parts: readonly string[];
  /** It names a function alone, as handoffs do, and nothing else says whose that is. */
  readonly bare: boolean;
  /** A tool call of that id has begun. */
  begun: boolean;
}

/** What a span of a model call says of the answer. */
export interface ModelAnswer {
  readonly model: string | undefined;
  readonly responseModel: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: ModelCallUsage | undefined;
  readonly finishReasons: readonly string[] | undefined;
  /** Content. */
  readonly output: readonly OutputMessage[] | undefined;
  /** Content: what the request said beside its messages, as far as the answer repeats it. */
  readonly instructions?: unknown;
  readonly asked: readonly AskedCall[] | undefined;
  /** The definitions of the tools that the model was given. */
  readonly tools: unknown;
}

/**
 * Reads a `response` span (Responses API: the raw response) or a `generation` span (Chat Completions
 * and other models: a list of raw answers). What the SDK leaves out is undefined.
 *
 * @param reads whether the content is wanted.
 */
export function answerIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  return data.type === "response" ? responseIn(data, reads) : generationIn(data, reads);
}

/**
 * Whether a stream was broken off: by an `AbortSignal`, or by its reader. The SDK's models end such
 * a span without an error, and fill in what was asked (and how) alone. A model of somebody else's that
 * records less than that is not taken for one.
 */
export function isBrokenOff(data: SdkSpanData): boolean {
  return data.type === "response"
    ? data._input !== undefined && data._response === undefined && data.response_id === undefined
    : data.model_config !== undefined &&
        data.input !== undefined &&
        data.output === undefined &&
        data.usage === undefined;
}

/**
 * What the Responses API says went wrong, where it took the request and then failed. Before 0.14 the
 * SDK takes that for an answer.
 */
export function failureIn(data: SdkSpanData): string | undefined {
  const response = fieldsOf(data._response);
  if (response?.status !== "failed") return undefined;
  const error = fieldsOf(response.error);
  const parts = [textOf(error?.code), textOf(error?.message)].filter((part) => part !== undefined);
  return parts.length === 0 ? "the response failed" : parts.join(": ");
}

function responseIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  const response = fieldsOf(data._response);
  const output = response?.output;
  const why = textOf(fieldsOf(response?.incomplete_details)?.reason);
  return {
    model: undefined,
    responseModel: textOf(response?.model),
    responseId: textOf(data.response_id) ?? textOf(response?.id),
    usage: usageIn(fieldsOf(response?.usage)),
    finishReasons: why === undefined ? undefined : [why],
    output: reads && response !== undefined ? outputMessages(response) : undefined,
    instructions: response?.instructions ?? undefined,
    asked: Array.isArray(output) ? callsIn(output, responseCall) : undefined,
    tools: response?.tools,
  };
}

function generationIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  const { output } = data;
  const answer = fieldsOf(listOf(output)?.[0]);
  const choice = fieldsOf(listOf(answer?.choices)?.[0]);
  const calls = fieldsOf(choice?.message)?.tool_calls;
  const reason = textOf(choice?.finish_reason);
  return {
    model: requestedModel(data),
    responseModel: textOf(answer?.model),
    responseId: textOf(answer?.id),
    usage: usageIn(fieldsOf(data.usage ?? answer?.usage)),
    finishReasons: reason === undefined ? undefined : [reason],
    output:
      reads && given(output)
        ? outputMessages(output, reason === undefined ? [] : [reason])
        : undefined,
    asked: Array.isArray(calls) ? callsIn(calls, chatCall) : protocolCallsIn(output),
    tools: undefined,
  };
}

function given(output: unknown): boolean {
  return output !== undefined && output !== null;
}

/** Models of `@openai/agents-extensions` trace what they answer as items of the SDK's own protocol. */
function protocolCallsIn(output: unknown): readonly AskedCall[] | undefined {
  const items = listOf(output);
  const isProtocol = items?.every((item) => textOf(fieldsOf(item)?.type) !== undefined);
  return items !== undefined && isProtocol ? callsIn(items, responseCall) : undefined;
}

function callsIn(
  items: readonly unknown[],
  read: (item: Fields, items: readonly unknown[]) => AskedCall | undefined,
): readonly AskedCall[] {
  const calls: AskedCall[] = [];
  for (const item of items) {
    const fields = fieldsOf(item);
    const call = fields === undefined ? undefined : read(fields, items);
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

function responseCall(item: Fields, items: readonly unknown[]): AskedCall | undefined {
  switch (item.type) {
    case "function_call":
      return asked(callIdIn(item), item.name, item.arguments, textOf(item.namespace) === undefined);
    case "mcp_approval_request":
      // The server's tool, which OpenAI calls once somebody has said yes.
      return asked(textOf(item.id), item.name, item.arguments);
    case "shell_call":
      return ranThere(item, items)
        ? undefined
        : asked(callIdIn(item), "shell", undefined, false, partsOf(item.action, "commands"));
    case "apply_patch_call": {
      const parts = partsOf(item.operation, "type", "path", "diff");
      return asked(callIdIn(item), "apply_patch", undefined, false, parts);
    }
    case "computer_call":
      return asked(callIdIn(item), "computer", undefined);
    default:
      return undefined;
  }
}

/** Whether the answer holds what the call gave: it was made where the model is, and nothing is asked. */
function ranThere(call: Fields, items: readonly unknown[]): boolean {
  return items.some((item) => {
    const fields = fieldsOf(item) ?? {};
    return fields.type === "shell_call_output" && callIdIn(fields) === callIdIn(call);
  });
}

/** The Responses API's name, or that of the SDK's protocol. */
function callIdIn({ call_id, callId }: Fields): string | undefined {
  return textOf(call_id) ?? textOf(callId);
}

function chatCall(item: Fields): AskedCall | undefined {
  const called = fieldsOf(item.function);
  return asked(textOf(item.id), called?.name, called?.arguments, true);
}

function asked(
  id: string | undefined,
  name: unknown,
  input: unknown,
  bare = false,
  parts: readonly string[] = NO_PARTS,
): AskedCall | undefined {
  const tool = textOf(name);
  if (id === undefined || tool === undefined) return undefined;
  return { id, tool, input: textOf(input), parts, bare, begun: false };
}

const NO_PARTS: readonly string[] = [];

/** These fields as they stand in JSON: the SDK has names of its own for others, and another order. */
function partsOf(value: unknown, ...names: readonly string[]): readonly string[] {
  const fields = fieldsOf(value);
  return names
    .filter((name) => fields?.[name] !== undefined)
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(fields?.[name])}`);
}

/**
 * The calls without the handoffs among them: models ask for those as for tools, but they need no
 * approval, and they have no tool's span.
 *
 * @param agent what the agent's span says of its tools and handoffs.
 */
export function withoutHandoffs(
  calls: readonly AskedCall[],
  agent: SdkSpanData | undefined,
): readonly AskedCall[] {
  const tools = listOf(agent?.tools);
  if (tools === undefined || (listOf(agent?.handoffs) ?? []).length === 0) return calls;
  return calls.filter(({ tool, bare }) => !bare || tools.includes(tool));
}

/** Both APIs' names: `input_tokens` and `prompt_tokens`, with their details. */
function usageIn(usage: Fields | undefined): ModelCallUsage | undefined {
  if (usage === undefined) return undefined;
  const input = countOf(usage.input_tokens) ?? countOf(usage.prompt_tokens);
  const output = countOf(usage.output_tokens) ?? countOf(usage.completion_tokens);
  if (input === null && output === null) return undefined;
  const ofInput = fieldsOf(
    usage.input_tokens_details ?? usage.prompt_tokens_details ?? usage.details,
  );
  const ofOutput = fieldsOf(
    usage.output_tokens_details ?? usage.completion_tokens_details ?? usage.details,
  );
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: countOf(ofInput?.cached_tokens),
    cache_write_input_tokens: countOf(ofInput?.cache_write_tokens),
    reasoning_output_tokens: countOf(ofOutput?.reasoning_tokens),
  };
}
