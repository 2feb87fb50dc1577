import { AgentError } from "./agent-error.ts";
import { hasName, property, textProperty } from "./thrown.ts";

const ANSWER_NAMES = new Set(["APIError"]);
/** What the clients of Google and AWS say of a stream that ends in the middle of a message. */
const CUT_MESSAGES = new Set([
  "Incomplete JSON segment at the end",
  "Truncated event message received.",
]);
/** The types of errors in the bodies of OpenAI and Anthropic: a closed set, for others use such names too. */
const PROVIDER_ERRORS = new Set([
  "api_error",
  "authentication_error",
  "billing_error",
  "invalid_request_error",
  "not_found_error",
  "overloaded_error",
  "permission_error",
  "rate_limit_error",
  "server_error",
  "timeout_error",
]);

/** OpenAI's of an answer cut by a limit or a filter; the AI SDK's of a call of no tool. */
const UNUSABLE_NAMES = new Set([
  "ContentFilterFinishReasonError",
  "LengthFinishReasonError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_NoSuchToolError",
]);
/** The AI SDK's, such as `AI_NoOutputGeneratedError`: all that a stream's result says of what broke it. */
const NOTHING_GENERATED = /^AI_No[A-Za-z]*GeneratedError$/;

/**
 * What an error says of a model's answer, where it says no more than this: that the provider gave up
 * in the middle, or that nothing can be done with what came. `undefined` for any other.
 */
export function ofModelAnswer(value: unknown, thrown: unknown): AgentError | undefined {
  const cause = { cause: thrown };
  if (isCutAnswer(value)) return AgentError.network(textProperty(value, "message") ?? "", cause);
  const unusable =
    hasName(value, UNUSABLE_NAMES) || NOTHING_GENERATED.test(textProperty(value, "name") ?? "");
  return unusable ? AgentError.modelRetry("the answer could not be used", 0, cause) : undefined;
}

/** The answer had begun with status 200, so the error of what came later has none. */
function isCutAnswer(value: unknown): boolean {
  // OpenAI's and Anthropic's clients throw the base class, with what the stream said.
  const said = property(value, "error") ?? property(value, "headers");
  if (typeof said === "object" && said !== null && hasName(value, ANSWER_NAMES)) return true;
  // AWS's throw what they would for an answer, with nothing in it of one.
  if (textProperty(value, "$fault") !== undefined) return true;
  return CUT_MESSAGES.has(textProperty(value, "message") ?? "") || isProvidersWord(value);
}

/** The AI SDK hands on what the stream said, which is no error at all but the object that came. */
function isProvidersWord(value: unknown): boolean {
  const type = textProperty(value, "type");
  if (type === undefined || textProperty(value, "stack") !== undefined) return false;
  if (type === "error") return textProperty(property(value, "error"), "message") !== undefined;
  return PROVIDER_ERRORS.has(type) && textProperty(value, "message") !== undefined;
}
