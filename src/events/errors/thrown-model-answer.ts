import { AgentError } from "./agent-error.ts";
import { hasName, property, textProperty } from "./thrown.ts";

const ANSWER_NAMES = new Set(["APIError"]);
/** Messages of Google's and AWS's clients for a stream that ends in the middle of a message. */
const CUT_MESSAGES = new Set([
  "Incomplete JSON segment at the end",
  "Truncated event message received.",
]);
/**
 * The types of errors in the bodies of OpenAI and Anthropic. A closed set, because other programs use such names,
 * too.
 */
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

/** OpenAI's names for an answer cut by a limit or a filter, and the AI SDK's for answers that it cannot use. */
const UNUSABLE_NAMES = new Set([
  "ContentFilterFinishReasonError",
  "LengthFinishReasonError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_InvalidStreamPartError",
  "AI_NoSuchToolError",
  "AI_ToolChoiceViolationError",
]);
/**
 * The AI SDK's names, such as `AI_NoOutputGeneratedError`. A stream's result has no other sign of the error that
 * ended it.
 */
const NOTHING_GENERATED = /^AI_No[A-Za-z]*GeneratedError$/;

/**
 * The error of a model's answer, if there is no better evidence: the provider stopped in the middle, or the answer is
 * unusable. `undefined` for any other value.
 */
export function ofModelAnswer(value: unknown, thrown: unknown): AgentError | undefined {
  const cause = { cause: thrown };
  if (isCutAnswer(value)) return AgentError.network(textProperty(value, "message") ?? "", cause);
  const unusable =
    hasName(value, UNUSABLE_NAMES) || NOTHING_GENERATED.test(textProperty(value, "name") ?? "");
  return unusable ? AgentError.modelRetry("the answer could not be used", 0, cause) : undefined;
}

/** The answer had started with status 200, so an error in its stream has no status. */
function isCutAnswer(value: unknown): boolean {
  // OpenAI's and Anthropic's clients throw the base class with the error of the stream.
  const reported = property(value, "error") ?? property(value, "headers");
  if (typeof reported === "object" && reported !== null && hasName(value, ANSWER_NAMES))
    return true;
  // AWS's clients throw the same class as for an answer, but without one.
  if (textProperty(value, "$fault") !== undefined) return true;
  return CUT_MESSAGES.has(textProperty(value, "message") ?? "") || isProvidersWord(value);
}

/** The AI SDK throws the object of the stream itself, which is not an Error. */
function isProvidersWord(value: unknown): boolean {
  const type = textProperty(value, "type");
  if (type === undefined || textProperty(value, "stack") !== undefined) return false;
  if (type === "error") return textProperty(property(value, "error"), "message") !== undefined;
  return PROVIDER_ERRORS.has(type) && textProperty(value, "message") !== undefined;
}
