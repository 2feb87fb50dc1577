import { AgentError } from "../../errors/agent-error.ts";
import { asAgentError } from "../../errors/as-agent-error.ts";
import { property, textProperty } from "../../errors/thrown.ts";
import { operatorText } from "../../runtime/operator-text.ts";

// LangChain's and LangGraph's own errors, known by name or code: the package imports neither.

/** Bound of a walk through causes, which may be cyclic. */
const MOST_CAUSES = 16;

/** What `createAgent` wraps errors in, by its brand, and where the error inside is. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  ["MiddlewareError", "cause"],
  // Its text holds the arguments of the call, and the stack.
  ["ToolInvocationError", "toolError"],
]);

/** What was thrown first, below the errors that `createAgent` wraps it in. Never throws. */
export function unwrapped(thrown: unknown): unknown {
  let at = thrown;
  for (let depth = 0; depth < MOST_CAUSES; depth += 1) {
    const inside = INSIDE.get(textProperty(at, "~brand") ?? "");
    const inner = inside === undefined ? undefined : property(at, inside);
    if (inner === undefined) return at;
    at = inner;
  }
  return at;
}

/** The operator's text, without what LangChain writes into it of messages. Never throws. */
export function errorText(thrown: unknown): string {
  const inner = unwrapped(thrown);
  // The words of the refusal are the rest of its text.
  if (ownName(inner) === "ModelRefusalError") return "the model refused to answer";
  const text = operatorText(inner);
  // Of a parser: its text has the whole answer, in quotes or at the end.
  const answer = textProperty(inner, "llmOutput");
  if (answer === undefined) return text;
  return text.replaceAll(`"${answer}"`, '"[content]"').replaceAll(`: ${answer}`, ": [content]");
}

/**
 * The thrown value, or what it means where it, or a cause of it, is an error of LangChain's or
 * LangGraph's own: then the thrown one is its cause. Never throws.
 */
export function explained(thrown: unknown): unknown {
  if (asAgentError(thrown) !== undefined) return thrown;
  let at = thrown;
  for (let depth = 0; depth < MOST_CAUSES && at !== undefined; depth += 1) {
    const known = meaningOf(at);
    if (known !== undefined) return known(errorText(at), { cause: thrown });
    at = property(at, INSIDE.get(textProperty(at, "~brand") ?? "") ?? "cause");
  }
  return thrown;
}

function meaningOf(thrown: unknown): Explain | undefined {
  if (isBareAbort(thrown)) return cancelled;
  return (
    BY_NAME.get(ownName(thrown) ?? "") ?? BY_CODE.get(textProperty(thrown, "lc_error_code") ?? "")
  );
}

/** The error's name, or its class's, where that is one of LangChain's. */
function ownName(thrown: unknown): string | undefined {
  const names = [
    textProperty(thrown, "name"),
    textProperty(property(thrown, "constructor"), "name"),
  ];
  return names.find((name) => name !== undefined && BY_NAME.has(name));
}

const ABORTS = new Set(["Abort", "Aborted", "AbortError"]);

/** What LangChain and LangGraph throw for an aborted signal: an error with nothing but a message. */
export function isBareAbort(thrown: unknown): boolean {
  return ABORTS.has(textProperty(thrown, "message") ?? "");
}

type Explain = (message: string, options: ErrorOptions) => AgentError;

const cancelled: Explain = (_, options) => AgentError.cancelled(options);
const timedOut: Explain = (_, options) => AgentError.deadlineExceeded(options);
const misbuilt: Explain = (message, options) => AgentError.config(message, options);
const unreadable: Explain = (message, options) => AgentError.serde(message, options);
// The model is shown this text, and LangChain's own may quote the value.
const mismatched: Explain = (_, options) =>
  AgentError.invalidRequest("value does not match its schema", options);
const guarded: Explain = (_, options) =>
  AgentError.invalidRequest("content is not allowed", options);
const refused: Explain = (_, options) =>
  AgentError.modelRetry("the answer could not be used", 0, options);

/** LangChain's numbers are in the operator's text alone; of a breach only its kind is told. */
const usedUp =
  (axis: "requests" | "tool_calls"): Explain =>
  (_, options) =>
    AgentError.usageLimitExceeded({ axis, limit: 0, observed: 0 }, options);

const BY_NAME: ReadonlyMap<string, Explain> = new Map([
  ["ContextOverflowError", (message, options) => AgentError.http(400, message, options)],
  // A graph's recursion limit is a budget of steps.
  ["GraphRecursionError", usedUp("requests")],
  ["ModelCallLimitMiddlewareError", usedUp("requests")],
  ["ToolCallLimitExceededError", usedUp("tool_calls")],
  ["ModelAbortError", cancelled],
  ["ModelRefusalError", refused],
  ["NodeTimeoutError", timedOut],
  ["MultipleStructuredOutputsError", unreadable],
  ["OutputParserException", unreadable],
  ["StructuredOutputParsingError", unreadable],
  ["ToolInputParsingException", mismatched],
  ["OpenAIModerationError", guarded],
  ["PIIDetectionError", guarded],
  ["EmptyChannelError", misbuilt],
  ["EmptyInputError", misbuilt],
  ["GraphValueError", misbuilt],
  ["InvalidRetryConfigError", misbuilt],
  ["InvalidUpdateError", misbuilt],
  ["MultipleSubgraphsError", misbuilt],
  ["MultipleToolsBoundError", misbuilt],
  ["StateGraphInputError", mismatched],
  ["UnknownInterruptError", misbuilt],
  ["UnreachableNodeError", misbuilt],
]);

/** LangChain's own codes, for errors of clients that carry no status. */
const BY_CODE: ReadonlyMap<string, Explain> = new Map([
  ["MODEL_AUTHENTICATION", (message, options) => AgentError.http(401, message, options)],
  ["MODEL_NOT_FOUND", (message, options) => AgentError.http(404, message, options)],
  ["MODEL_RATE_LIMIT", (message, options) => AgentError.http(429, message, options)],
  ["OUTPUT_PARSING_FAILURE", unreadable],
  ["INVALID_PROMPT_INPUT", mismatched],
  ["INVALID_TOOL_RESULTS", mismatched],
  ["MESSAGE_COERCION_FAILURE", mismatched],
]);
