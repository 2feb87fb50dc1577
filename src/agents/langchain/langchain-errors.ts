import {
  AgentError,
  type AgentErrorDetail,
  asAgentError,
  envelopeOf,
  type FailureSource,
  FROM_RUN,
  listProperty,
  operatorText,
  property,
  sourceOf,
  textProperty,
} from "../../events/door.ts";
import type { Failure } from "../core/door.ts";
import type { RunState } from "./run-state.ts";

/** LangGraph throws these as errors: a pause, or a handover to the parent graph. */
export type Signal = "pause" | "handover";

const MOST_INTERRUPTS = 1000;

/** The signal that a thrown value is, by LangGraph's public predicate. `undefined`: it is an error. */
export function signalOf(thrown: unknown): Signal | undefined {
  if (property(thrown, "is_bubble_up") !== true) return undefined;
  return textProperty(thrown, "name") === "ParentCommand" ? "handover" : "pause";
}

/** The payload of a pause: LangGraph's interrupts, or the reason why it was drained. */
export function interruptsOf(thrown: unknown): readonly unknown[] {
  const reason = textProperty(thrown, "reason");
  return reason === undefined
    ? listProperty(thrown, "interrupts", MOST_INTERRUPTS)
    : [{ value: reason }];
}

/**
 * Why a run or model call failed.
 *
 * @param source where it was thrown.
 * @param stop the error of a signal that fired, if it stopped the work.
 */
export function failureOf(thrown: unknown, source: FailureSource, stop?: AgentError): Failure {
  const failure = callFailureOf(thrown, source, stop);
  // LangChain has the figures of an exceeded budget only in its text.
  const { breach: _, ...envelope } = envelopeOf(failure.thrown, source);
  return { ...failure, envelope };
}

/** Why a tool call or step failed. */
export function callFailureOf(thrown: unknown, source: FailureSource, stop?: AgentError): Failure {
  const text = errorText(thrown);
  return { thrown: stop ?? explained(thrown), source, text, shown: unwrapped(thrown) };
}

/** Why a run failed, from its error and the errors below it. */
export function runFailureOf(run: RunState, thrown: unknown): Failure {
  const reason = stopReasonOf(run, thrown);
  if (reason !== undefined) return failureOf(reason, FROM_RUN, run.stops.errorFor(reason));
  const scope = { rootRunId: run.rootId, since: run.since };
  return failureOf(thrown, sourceOf(thrown, scope) ?? FROM_RUN);
}

/**
 * The error that stopped a run: an abort reason, or what LangChain made of it. LangGraph throws its own error, and only
 * the node's error has the reason.
 */
export function stopReasonOf(run: RunState, thrown: unknown): unknown {
  const isStop = (error: unknown) => run.stops.errorFor(error) !== undefined;
  if (isStop(thrown)) return thrown;
  const { lastError } = run;
  return isBareAbort(thrown) && (isStop(lastError) || isStopped(lastError)) ? lastError : undefined;
}

/** Whether the error is a deadline, of the run or of a call. */
export function isTimeout(thrown: unknown): boolean {
  return typeOf(thrown) === "deadline_exceeded";
}

/** Whether the error is a cancellation, or a deadline. */
export function isStopped(thrown: unknown): boolean {
  const type = typeOf(thrown);
  return type === "cancelled" || type === "deadline_exceeded";
}

/** The type of a known error. The classifier is not used, because it warns about pauses and unknown errors. */
function typeOf(thrown: unknown): AgentErrorDetail["type"] | undefined {
  return asAgentError(explained(thrown))?.detail.type;
}

// Errors of LangChain and LangGraph, recognised by name or code. The package imports neither.

/** Maximum number of causes that are followed. They may be cyclic. */
const MOST_CAUSES = 16;

/** Errors that `createAgent` wraps around others: brand, and the field with the inner error. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  ["MiddlewareError", "cause"],
  // Its text contains the call's arguments and the stack.
  ["ToolInvocationError", "toolError"],
]);

/** The inner error below wrappers of `createAgent`. Never throws. */
function unwrapped(thrown: unknown): unknown {
  let at = thrown;
  for (let depth = 0; depth < MOST_CAUSES; depth += 1) {
    const inside = INSIDE.get(textProperty(at, "~brand") ?? "");
    const inner = inside === undefined ? undefined : property(at, inside);
    if (inner === undefined) return at;
    at = inner;
  }
  return at;
}

/** The operator's text, without the content that LangChain adds to it. Never throws. */
function errorText(thrown: unknown): string {
  const inner = unwrapped(thrown);
  // The rest of its text is the refusal, which is content.
  if (ownName(inner) === "ModelRefusalError") return "the model refused to answer";
  const text = operatorText(inner);
  // The text of a parser's error contains the whole answer, in quotes or at its end.
  const answer = textProperty(inner, "llmOutput");
  if (answer === undefined) return text;
  return text.replaceAll(`"${answer}"`, '"[content]"').replaceAll(`: ${answer}`, ": [content]");
}

/**
 * Translates an error of LangChain or LangGraph, also as a cause, to an `AgentError` with the thrown value as cause.
 * Other values are returned unchanged. Never throws.
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

/** The name of the error or its class, if it is a known one of LangChain. */
function ownName(thrown: unknown): string | undefined {
  const names = [
    textProperty(thrown, "name"),
    textProperty(property(thrown, "constructor"), "name"),
  ];
  return names.find((name) => name !== undefined && BY_NAME.has(name));
}

const ABORTS = new Set(["Abort", "Aborted", "AbortError"]);

/** Whether it is the error of an aborted signal: LangChain and LangGraph throw one with only a message. */
function isBareAbort(thrown: unknown): boolean {
  return ABORTS.has(textProperty(thrown, "message") ?? "");
}

type Explain = (message: string, options: ErrorOptions) => AgentError;

const cancelled: Explain = (_, options) => AgentError.cancelled(options);
const timedOut: Explain = (_, options) => AgentError.deadlineExceeded(options);
const misbuilt: Explain = (message, options) => AgentError.config(message, options);
const unreadable: Explain = (message, options) => AgentError.serde(message, options);
// The model may see this text, and LangChain's own may quote the value.
const mismatched: Explain = (_, options) =>
  AgentError.invalidRequest("value does not match its schema", options);
const guarded: Explain = (_, options) =>
  AgentError.invalidRequest("content is not allowed", options);
const refused: Explain = (_, options) =>
  AgentError.modelRetry("the answer could not be used", 0, options);

/** LangChain has the numbers only in its text, so only the kind of the limit is sent. */
const usedUp =
  (axis: "requests" | "tool_calls"): Explain =>
  (_, options) =>
    AgentError.usageLimitExceeded({ axis, limit: 0, observed: 0 }, options);

const BY_NAME: ReadonlyMap<string, Explain> = new Map([
  ["ContextOverflowError", (message, options) => AgentError.http(400, message, options)],
  // A graph's recursion limit counts steps.
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

/** LangChain's codes for client errors without a status. */
const BY_CODE: ReadonlyMap<string, Explain> = new Map([
  ["MODEL_AUTHENTICATION", (message, options) => AgentError.http(401, message, options)],
  ["MODEL_NOT_FOUND", (message, options) => AgentError.http(404, message, options)],
  ["MODEL_RATE_LIMIT", (message, options) => AgentError.http(429, message, options)],
  ["OUTPUT_PARSING_FAILURE", unreadable],
  ["INVALID_PROMPT_INPUT", mismatched],
  ["INVALID_TOOL_RESULTS", mismatched],
  ["MESSAGE_COERCION_FAILURE", mismatched],
]);
