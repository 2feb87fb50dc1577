import { errorsIn } from "./failure-source.ts";
import { constructorName, property, textProperty } from "./thrown.ts";

/** Base classes of the errors of model clients. Their subclasses have names that others use too. */
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
  // LangChain's.
  "ContextOverflowError",
  "ModelRefusalError",
  // The AI SDK's, of a call of a model.
  "AI_APICallError",
  "AI_EmptyResponseBodyError",
  "AI_InvalidResponseDataError",
  "AI_LoadAPIKeyError",
  "AI_RetryError",
]);

/** The AI SDK's, one for each kind of output that a model did not give. */
const AI_NONE = /^AI_No[A-Za-z]*GeneratedError$/;

const MOST_CLASSES = 8;

/** Whether an error, or an error inside it, is of a class that belongs to a model client. */
export function isOfModelClient(thrown: unknown): boolean {
  for (const error of errorsIn(thrown)) {
    if (isOwnClass(error) || isGoogles(error) || isOllamas(error)) return true;
    // LangChain puts a code of its own on the errors of clients.
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

/** `@google/genai` has a class with a common name, and the body of the answer as its message. */
function isGoogles(error: object): boolean {
  return (
    textProperty(error, "name") === "ApiError" &&
    typeof property(error, "status") === "number" &&
    textProperty(error, "message")?.startsWith('{"error":') === true
  );
}

/** Its class has a common name, but the field of the status has a name of its own. */
function isOllamas(error: object): boolean {
  return (
    textProperty(error, "name") === "ResponseError" &&
    typeof property(error, "status_code") === "number"
  );
}

/** A Proxy may throw when it is asked. */
function prototypeOf(value: unknown): unknown {
  try {
    return Object.getPrototypeOf(value);
  } catch {
    return undefined;
  }
}
