import { errorsIn } from "./failure-source.ts";
import { constructorName, property, textProperty } from "./thrown.ts";

/** Base classes of the errors of model clients. Their subclasses have common names. */
const CLASSES = new Set([
  "AnthropicError",
  "BedrockRuntimeServiceException",
  "CerebrasError",
  "CohereError",
  "CohereTimeoutError",
  "GoogleGenerativeAIError",
  "GroqError",
  "MistralError",
  "OpenAIError",
  "TogetherError",
  // LangChain's classes.
  "ContextOverflowError",
  "ModelRefusalError",
  // The AI SDK's classes for a model call.
  "AI_APICallError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_InvalidStreamPartError",
  "AI_LoadAPIKeyError",
  "AI_RetryError",
  "AI_ToolChoiceViolationError",
]);

/** The AI SDK's classes for a missing output, one for each kind of output. */
const AI_NONE = /^AI_No[A-Za-z]*GeneratedError$/;

const MOST_CLASSES = 8;

/** Whether an error, or an error inside it, has a class of a model client. */
export function isOfModelClient(thrown: unknown): boolean {
  for (const error of errorsIn(thrown)) {
    if (isOwnClass(error) || isGoogles(error) || isOllamas(error)) return true;
    // LangChain adds its own code to the errors of clients.
    if (textProperty(error, "lc_error_code")?.startsWith("MODEL_")) return true;
  }
  return false;
}

function isOwnClass(error: object): boolean {
  const name = textProperty(error, "name") ?? "";
  if (CLASSES.has(name) || AI_NONE.test(name)) return true;
  let at: unknown = error;
  for (let depth = 0; depth < MOST_CLASSES && at !== null && at !== undefined; depth += 1) {
    if (CLASSES.has(constructorName(at))) return true;
    at = prototypeOf(at);
  }
  return false;
}

/** `@google/genai` has a class with a common name. Its message is the body of the answer. */
function isGoogles(error: object): boolean {
  return (
    textProperty(error, "name") === "ApiError" &&
    typeof property(error, "status") === "number" &&
    textProperty(error, "message")?.startsWith('{"error":') === true
  );
}

/** Ollama's class has a common name, but the field for the status is specific. */
function isOllamas(error: object): boolean {
  return (
    textProperty(error, "name") === "ResponseError" &&
    typeof property(error, "status_code") === "number"
  );
}

/** A Proxy may throw here. */
function prototypeOf(value: unknown): unknown {
  try {
    return Object.getPrototypeOf(value);
  } catch {
    return undefined;
  }
}
