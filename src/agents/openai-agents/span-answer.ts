import { type ModelCallUsage, type OutputMessage, outputMessages } from "../../events/door.ts";
import {
  answeredBy,
  type Fields,
  fieldIn,
  fieldsOf,
  listOf,
  reasonIn,
  refusesIn,
  routedIn,
  textOf,
  tokensIn,
} from "../core/door.ts";
import type { SdkSpanData } from "./sdk.ts";
import { requestedModel, requestIn } from "./span-request.ts";

/** A tool call in a model's answer. */
export interface AskedCall {
  readonly id: string;
  /** The tool's name, or the kind of OpenAI's own tool until its name is known. */
  tool: string;
  /**
   * The names that its span may have. A tool in a namespace has both names. `undefined`: any name, because the model's
   * answer has the kind of OpenAI's own tools only.
   */
  readonly spanNames: readonly string[] | undefined;
  /** Content: the model's arguments. Only compared, never sent. */
  readonly input: string | undefined;
  /** Parts of the call in a span's input, which has more for OpenAI's own tools. */
  readonly parts: readonly string[];
  /** Whether it only names a function, as handoffs do. */
  readonly bare: boolean;
  /** Whether it was made. */
  begun: boolean;
  /**
   * Whether the SDK skips it or answers it itself, and so does not wait for it: its ID was used before, or the agent
   * has no such tool.
   */
  isVoid: boolean;
  /** Whether the agent has no such tool. The SDK answers the call, or fails the run. */
  isMissing: boolean;
}

/** Whether the call was not made, so that a decision about it may be missing. */
export function isUnmade({ bare, begun, input, isVoid }: AskedCall): boolean {
  // The SDK before 0.20 answers a call with invalid arguments itself.
  return !begun && !isVoid && !(bare && isNoJson(input));
}

/** Whether arguments are not JSON. */
export function isNoJson(input = ""): boolean {
  if (input === "") return false;
  try {
    JSON.parse(input);
    return false;
  } catch {
    return true;
  }
}

/** A model's answer, from the span of the call. */
export interface ModelAnswer {
  readonly model: string | undefined;
  /** Who answered, if the request names another provider. */
  readonly provider: string | undefined;
  readonly responseModel: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: ModelCallUsage | undefined;
  readonly finishReasons: readonly string[] | undefined;
  /** Content. */
  readonly output: readonly OutputMessage[] | undefined;
  /** Content: the request's instructions, if the answer repeats them. */
  readonly instructions?: unknown;
  readonly asked: readonly AskedCall[] | undefined;
  /** The tool definitions of the request. */
  readonly tools: unknown;
}

/**
 * Reads a `response` span (Responses API: the raw response) or a `generation` span (Chat Completions and other
 * models: a list of raw answers). Data that the SDK omits is undefined.
 *
 * @param reads whether the sink reads content.
 */
export function answerIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  return data.type === "response" ? responseIn(data, reads) : generationIn(data, reads);
}

/**
 * Whether an `AbortSignal` or the reader ended a stream. The SDK's models end such a span without an error, with only
 * the request's data. Other models may record less, and are not recognised.
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
 * The error of a Responses API request that was accepted and then failed. The SDK before 0.14 treats it as an answer.
 */
export function failureIn(data: SdkSpanData): string | undefined {
  const response = fieldsOf(data._response);
  if (response?.status !== "failed") return undefined;
  const error = fieldsOf(response.error);
  const parts = [textOf(error?.code), textOf(error?.message)].filter((part) => part !== undefined);
  return parts.length === 0 ? "the response failed" : parts.join(": ");
}

/**
 * Whether a response ended too soon (`incomplete_details`). It is an answer. From 0.20 on, the SDK refuses it with an
 * error on its span, and the run fails.
 */
export function isIncomplete(data: SdkSpanData): boolean {
  return data.type === "response" && fieldIn(data._response, "status") === "incomplete";
}

function responseIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  const response = fieldsOf(data._response);
  const output = response?.output;
  const asked = Array.isArray(output) ? callsIn(output, responseCall) : undefined;
  const ends = { asks: (asked ?? []).length > 0, refuses: refusesIn(output) };
  const reason = reasonIn([response], ends);
  const responseModel = textOf(response?.model);
  return {
    // The span does not have the requested model, so the answering model stands for it.
    model: responseModel,
    provider: answeredBy("openai", { responseModel, routed: routedIn(response) }),
    responseModel,
    responseId: textOf(data.response_id) ?? textOf(response?.id),
    usage: tokensIn(response?.usage),
    finishReasons: reason === undefined ? undefined : [reason],
    output: reads && response !== undefined ? outputMessages(response) : undefined,
    instructions: response?.instructions ?? undefined,
    asked,
    tools: response?.tools,
  };
}

function generationIn(data: SdkSpanData, reads: boolean): ModelAnswer {
  const { output } = data;
  const answer = fieldsOf(listOf(output)?.[0]);
  const choice = fieldsOf(listOf(answer?.choices)?.[0]);
  const message = fieldsOf(choice?.message);
  const calls = message?.tool_calls;
  const refuses = textOf(message?.refusal) !== undefined || refusesIn(output);
  const reason = reasonIn([choice], { refuses });
  const responseModel = textOf(answer?.model);
  const asked = requestIn(data).provider;
  return {
    model: requestedModel(data),
    provider: answeredBy(asked, { responseModel, routed: routedIn(answer) }),
    responseModel,
    responseId: textOf(answer?.id),
    usage: tokensIn(data.usage ?? answer?.usage),
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

/** Models of `@openai/agents-extensions` record their answers as items of the SDK's own protocol. */
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
      return functionCall(item);
    case "mcp_approval_request":
      // The server's tool. OpenAI calls it after the approval.
      return asked(textOf(item.id), item.name, item.arguments);
    case "shell_call":
      return ranThere(item, items)
        ? undefined
        : ownTool(item, "shell", partsOf(item.action, "commands"));
    case "apply_patch_call":
      return ownTool(item, "apply_patch", partsOf(item.operation, "type", "path", "diff"));
    case "computer_call":
      return ownTool(item, "computer");
    default:
      return undefined;
  }
}

function functionCall(item: Fields): AskedCall | undefined {
  const namespace = textOf(item.namespace);
  const call = asked(callIdIn(item), item.name, item.arguments, namespace === undefined);
  if (call === undefined || namespace === undefined) return call;
  const own = `${namespace}.${call.tool}`;
  // The SDK gives the namespace of its name to a tool that is loaded later.
  return { ...call, tool: namespace === call.tool ? call.tool : own, spanNames: [call.tool, own] };
}

/** A call of a shell, an editor or a computer. The application gives such a tool its name. */
function ownTool(item: Fields, kind: string, parts = NO_PARTS): AskedCall | undefined {
  const call = asked(callIdIn(item), kind, undefined);
  return call && { ...call, spanNames: undefined, parts };
}

/** Whether the answer already has the call's output. The call ran on the provider's side then. */
function ranThere(call: Fields, items: readonly unknown[]): boolean {
  return items.some((item) => {
    const fields = fieldsOf(item) ?? {};
    return fields.type === "shell_call_output" && callIdIn(fields) === callIdIn(call);
  });
}

/** The name in the Responses API, or in the SDK's protocol. */
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
): AskedCall | undefined {
  const tool = textOf(name);
  if (id === undefined || tool === undefined) return undefined;
  return {
    id,
    tool,
    spanNames: [tool],
    input: textOf(input),
    parts: NO_PARTS,
    bare,
    begun: false,
    isVoid: false,
    isMissing: false,
  };
}

const NO_PARTS: readonly string[] = [];

/** These fields as JSON. The SDK names and orders other fields differently. */
function partsOf(value: unknown, ...names: readonly string[]): readonly string[] {
  const fields = fieldsOf(value);
  return names
    .filter((name) => fields?.[name] !== undefined)
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(fields?.[name])}`);
}

/**
 * The calls without handoffs. Models ask for handoffs as for tools, but they need no approval and have no tool span.
 *
 * @param agent data of the agent's span, with its tools and handoffs.
 */
export function withoutHandoffs(
  calls: readonly AskedCall[],
  agent: SdkSpanData | undefined,
): readonly AskedCall[] {
  const tools = listOf(agent?.tools);
  if (tools === undefined || (listOf(agent?.handoffs) ?? []).length === 0) return calls;
  return calls.filter(({ tool, bare }) => !bare || tools.includes(tool));
}
