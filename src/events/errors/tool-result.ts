import { boundedJson } from "../bounded-json.ts";
import { type AnswerForm, answerOf } from "../users-functions.ts";
import { type ErrorEnvelope, TOOL_ERROR_KINDS, type ToolErrorKind } from "./error-kinds.ts";
import { type RenderedForLlm, resultText } from "./llm-text.ts";
import { property, textProperty } from "./thrown.ts";
import { notMadeFailure, notMadeIn } from "./tool-not-made.ts";

/** The call of a result. */
export interface ReturnedCall {
  readonly tool: string;
  readonly toolUseId: string;
}

/**
 * Decides whether a tool's result means that the call failed: `true` (kind `internal`), a kind of failure, or
 * `false`. `undefined`: as without a predicate. Then only results with `isError: true` (MCP), and messages of
 * LangChain with the status `error`, are failures, also the call's message in a `Command`. Any other answer, a promise
 * and an error count as `undefined`. `onError` gets them.
 *
 * @param result the tool's own object, which the agent gets, too.
 */
export type IsFailure = (
  result: unknown,
  call: ReturnedCall,
) => boolean | ToolErrorKind | undefined;

/** The fields of a `tool_error` for a call that returned its failure. */
export interface ToolFailure {
  readonly error: string;
  readonly error_for_llm: RenderedForLlm;
  readonly envelope: ErrorEnvelope;
  readonly kind: ToolErrorKind;
}

const ENVELOPE: ErrorEnvelope = Object.freeze({
  wire_code: "tool_result_error",
  wire_class: "server",
  origin: "tool",
});

/** A text of the tool or the application must not become an error kind, which metrics have as a label. */
const FAILURE_ANSWER: AnswerForm<boolean | ToolErrorKind> = {
  option: "isFailure",
  expected: `true, false or one of ${TOOL_ERROR_KINDS.join(", ")}`,
  read: (given) =>
    typeof given === "boolean" ? given : TOOL_ERROR_KINDS.find((kind) => kind === given),
};

/** The failure of a result. `undefined` for a success. Never throws. */
export function failureInResult(
  result: unknown,
  call: ReturnedCall,
  isFailure: IsFailure | undefined,
  onError: ((error: unknown) => void) | undefined,
): ToolFailure | undefined {
  const { tool, toolUseId } = call;
  const ask = isFailure && (() => isFailure(result, { tool, toolUseId }));
  const answer = ask && answerOf(FAILURE_ANSWER, ask, onError);
  const failing = failingMessage(result, toolUseId);
  const failed = answer ?? (failing !== undefined || saysFailure(result));
  if (failed === false) return undefined;
  const text = textOfResult(failing ?? result);
  const code = answer === undefined ? notMadeIn(text) : undefined;
  if (code !== undefined) return notMadeFailure(tool, code, text);
  return {
    // Operator text must not contain the tool's result, which is content.
    error: `the result of ${tool} says that it failed`,
    error_for_llm: resultText(text),
    envelope: ENVELOPE,
    kind: failed === true ? "internal" : failed,
  };
}

/** Fields of a result that may say that the call failed. */
type ResultFields = Partial<Record<"isError" | "tool_call_id" | "status" | "content", unknown>>;

/** A result with `isError: true`, as those of MCP tools, or the `ToolMessage` of LangChain. */
function saysFailure(result: unknown): boolean {
  if (!isObject(result)) return textSaysFailure(result);
  try {
    if (result.isError === true) return true;
    if (result.tool_call_id === undefined) return false;
    return result.status === "error" || textSaysFailure(result.content);
  } catch {
    // A getter or a Proxy may throw.
    return false;
  }
}

/** Maximum number of entries of an update that are searched. */
const MOST_LISTED = 1000;

/** The failed `ToolMessage` for the call in a result that is a `Command` of LangGraph. */
function failingMessage(result: unknown, toolUseId: string): unknown {
  if (property(result, "lg_name") !== "Command") return undefined;
  const update = property(result, "update");
  return messagesOf(update).find(
    (one) => property(one, "tool_call_id") === toolUseId && saysFailure(one),
  );
}

/** The messages that a command adds to the state. Its update is an object, or a list of names and values. */
function messagesOf(update: unknown): readonly unknown[] {
  if (!isList(update)) return listed(property(update, "messages"));
  return listed(update).flatMap((pair) =>
    property(pair, "0") === "messages" ? listed(property(pair, "1")) : [],
  );
}

/** The entries of a list, or the single value. */
function listed(value: unknown): readonly unknown[] {
  return isList(value) ? value.slice(0, MOST_LISTED) : [value];
}

function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    // A Proxy may be revoked.
    return false;
  }
}

function isObject(value: unknown): value is ResultFields {
  return typeof value === "object" && value !== null;
}

/** Longest text that is parsed. */
const MOST_TEXT = 1024 * 1024;

/** Some frameworks give the result of a tool as its JSON. */
function textSaysFailure(text: unknown): boolean {
  if (typeof text !== "string" || text.length > MOST_TEXT) return false;
  if (!text.startsWith("{") || !text.includes('"isError"')) return false;
  try {
    return property(JSON.parse(text), "isError") === true;
  } catch {
    return false;
  }
}

/** The model's text of a result: the result itself if it is text, or its JSON. */
export function textOfResult(result: unknown): string {
  if (typeof result === "string") return result;
  const content = property(result, "content");
  if (typeof content === "string") return content;
  try {
    if (!Array.isArray(content)) return jsonOf(result);
    const texts = content.map((part: unknown) => textProperty(part, "text"));
    return texts.every((text) => text !== undefined) ? texts.join("\n") : jsonOf(content);
  } catch {
    return "";
  }
}

/** Most bytes of a result for the model. */
const MODEL_TEXT = { bytes: 16 * 1024 * 1024, binary: "base64" } as const;

function jsonOf(value: unknown): string {
  return value === undefined ? "" : boundedJson(value, MODEL_TEXT).text;
}
