import {
  AgentError,
  type AgentErrorDetail,
  asAgentError,
  classifyFailure,
  type ErrorEnvelope,
  type ExceptionDetails,
  envelopeOf,
  exceptionOf,
  type FailureKind,
  type FailureSource,
  FROM_RUN,
  listProperty,
  operatorText,
  property,
  sourceOf,
  textProperty,
} from "../../events/door.ts";
import type { RunState } from "./run-state.ts";

/** LangGraph's signals travel as errors: a pause, or control handed to the graph above. */
export type Signal = "pause" | "handover";

const MOST_INTERRUPTS = 1000;

/** Which signal a thrown value is, by LangGraph's public predicate; `undefined` for an error. */
export function signalOf(thrown: unknown): Signal | undefined {
  if (property(thrown, "is_bubble_up") !== true) return undefined;
  return textProperty(thrown, "name") === "ParentCommand" ? "handover" : "pause";
}

/** What the pause asks: LangGraph's interrupts, or why it was drained. */
export function interruptsOf(thrown: unknown): readonly unknown[] {
  const reason = textProperty(thrown, "reason");
  return reason === undefined
    ? listProperty(thrown, "interrupts", MOST_INTERRUPTS)
    : [{ value: reason }];
}

/** Why a run or model call failed. */
export interface Failure {
  readonly error: string;
  readonly envelope: ErrorEnvelope;
  readonly kind: FailureKind;
  readonly exception: ExceptionDetails | undefined;
}

/** @param source where it was thrown. */
export function failureOf(thrown: unknown, source: FailureSource): Failure {
  const known = explained(thrown);
  // LangChain has the figures of a used-up budget in its text alone.
  const { breach: _, ...envelope } = envelopeOf(known, source);
  const exception = exceptionIn(thrown);
  return { error: errorText(thrown), envelope, kind: classifyFailure(known, source), exception };
}

/** The exception behind an error, without the content in its text; none for a pause or a cancellation. */
export function exceptionIn(thrown: unknown): ExceptionDetails | undefined {
  const type = typeOf(thrown);
  if (type === "cancelled" || type === "interrupted") return undefined;
  return exceptionOf(unwrapped(thrown), errorText(thrown));
}

/** Why a run failed: by its error, and what was thrown below it. */
export function runFailureOf(run: RunState, thrown: unknown): Failure {
  const reason = stopReasonOf(run, thrown);
  if (reason !== undefined) return failureOf(reason, FROM_RUN);
  const scope = { rootRunId: run.rootId, since: run.since };
  return failureOf(thrown, sourceOf(thrown, scope) ?? FROM_RUN);
}

/**
 * Why the signal of a run stopped it, if one did: LangGraph gives up with an error of its own, while the
 * node had the reason of the signal.
 */
export function stopReasonOf(run: RunState, thrown: unknown): unknown {
  return isBareAbort(thrown) && isStop(typeOf(run.lastError)) ? run.lastError : undefined;
}

/** Whether a time limit was over, of whatever. */
export function isTimeout(thrown: unknown): boolean {
  return typeOf(thrown) === "deadline_exceeded";
}

/** Whether it was cancelled, as far as the error says so. */
export function isCalledOff(thrown: unknown): boolean {
  return typeOf(thrown) === "cancelled";
}

/** What is not asked for its kind: the classifier would warn of a pause, and of what nothing matches. */
function typeOf(thrown: unknown): AgentErrorDetail["type"] | undefined {
  return asAgentError(explained(thrown))?.detail.type;
}

function isStop(type: AgentErrorDetail["type"] | undefined): boolean {
  return type === "cancelled" || type === "deadline_exceeded";
}

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
function isBareAbort(thrown: unknown): boolean {
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

/** LangChain's numbers are in the operator's text alone; of a breach only its kind is sent. */
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
