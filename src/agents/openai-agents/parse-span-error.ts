import {
  AgentError,
  asAgentError,
  type ExceptionDetails,
  exceptionOf,
  MCP_PREFIX,
  textProperty,
} from "../../events/door.ts";
import { fieldsOf, textOf } from "../core/narrow.ts";
import type { Came } from "./came.ts";
import type { SdkSpanError } from "./sdk.ts";

/** What a span's error says: the SDK keeps the text of what was thrown, never the thing itself. */
export interface ParsedError {
  /** For operators. */
  readonly text: string;
  /** What it means; `undefined` when that is not known. */
  readonly error: AgentError | undefined;
  /** A tool threw it, and the SDK gave up. */
  readonly ofTool: boolean;
  /** Name of its class, where the SDK kept it. */
  readonly name?: string | undefined;
  /** The thrown value itself, where `withSpan` saw it. */
  readonly thrown?: { readonly value: unknown } | undefined;
}

/** `Name: message`, as an error prints itself. */
const PRINTED = /^([A-Za-z_$][\w$]*): ([\s\S]*)$/;
/** What Node puts before the code of a failed connection or look-up. */
const SYSTEM = /^(?:connect|read|write|getaddrinfo|query[A-Za-z]*) (E[A-Z_]+)\b/;
/** Names of classes. What else stands before a colon may be any word. */
const CLASS = /^[A-Za-z_$][\w$]*(?:Error|Exception|Triggered)$/;
/** What OpenAI's client puts before a provider's message. */
const STATUS = /^([45]\d\d) /;
const TURNS = /^Max turns \((\d{1,6})\) exceeded/;
/** On a tool's span, where the name of the error is lost: before 0.20 of the SDK. */
const TOOL_TRIPPED = /^Tool (?:input|output) guardrail triggered: /;
const TOOL_LATE = /^Tool '.*' timed out after \d+ms\.$/s;
/** Goes on with what could not be read of the model's answer, and that quotes it. */
const WRONG_OUTPUT = "Invalid output type: ";
const TOOLS_FAILED = "Failed to run function tools: ";
/** Of a thrown text, `null` or the like the SDK keeps nothing. */
const NO_TEXT = "something that is no error was thrown";
const GUARDRAIL_BROKE = " guardrail failed to complete: ";

/** Errors whose name the SDK loses, by their fixed message, as the classifier knows them. */
const LOST_NAMES: ReadonlyMap<string, string> = new Map([
  ["Request was aborted.", "APIUserAbortError"],
  ["This operation was aborted", "AbortError"],
  ["The operation was aborted", "AbortError"],
  ["The operation was aborted due to timeout", "TimeoutError"],
  ["Connection error.", "APIConnectionError"],
  ["Request timed out.", "APIConnectionTimeoutError"],
]);

/**
 * Reads a span's error. Texts that hold what a user or a model wrote (a guardrail's findings, a
 * refusal, an answer of the wrong type) are replaced by fixed ones: an error's text is for operators.
 */
export function parseSpanError({ message, data }: SdkSpanError): ParsedError {
  // Models of `@openai/agents-extensions` keep name, message and status as fields.
  const thrown = fieldsOf(data?.error);
  if (thrown === undefined) {
    const printed = textOf(data?.error) ?? textOf(message) ?? NO_TEXT;
    return { ...readText(printed), name: classIn(printed) };
  }
  const text = textOf(thrown.message) ?? textOf(message) ?? NO_TEXT;
  return { text, error: asAgentError(thrown), ofTool: false, name: textOf(thrown.name) };
}

function classIn(printed: string): string | undefined {
  const name = PRINTED.exec(printed)?.[1];
  return name !== undefined && CLASS.test(name) ? name : LOST_NAMES.get(printed);
}

/**
 * The exception behind it: class and text as far as they are known, and the stack where `withSpan` saw
 * the error. None for a pause or a cancellation.
 */
export function exceptionIn({ error, name, text, thrown }: ParsedError) {
  const type = error?.detail.type;
  if (type === "interrupted" || type === "cancelled") return undefined;
  const exception: ExceptionDetails | undefined =
    thrown === undefined
      ? exceptionOf({ name: name ?? "Error", message: text })
      : exceptionOf(thrown.value, text);
  return exception === undefined ? undefined : { exception };
}

/** The thrown value or what stands for it: where the SDK kept its text alone, that says what class it has. */
export function thrownIn({ error, text, thrown }: ParsedError): unknown {
  if (thrown !== undefined) return thrown.value;
  return error?.cause ?? error ?? new Error(text);
}

/**
 * The same where `withSpan` saw what the code of the call threw, unless the span failed with something
 * else: the code may have caught it.
 */
export function withThrown(
  parsed: ParsedError,
  { data, message }: SdkSpanError,
  came: Came | undefined,
): ParsedError {
  if (came === undefined || !("thrown" in came)) return parsed;
  const { thrown } = came;
  // The SDK writes one of the two, by where it catches the error.
  const known = textOf(data?.error);
  const isSame =
    known === undefined ? message === textProperty(thrown, "message") : known === printed(thrown);
  if (!isSame) return parsed;
  return { ...parsed, error: asAgentError(thrown), thrown: { value: thrown } };
}

/** As the SDK writes it. */
function printed(thrown: unknown): string | undefined {
  try {
    return String(thrown);
  } catch {
    return undefined;
  }
}

/** Errors inside each other that are read; the text of one that is deeper is its message. */
const DEEPEST = 16;

function readText(text: string, level = 1): ParsedError {
  const [, name = "Error", message = text] = PRINTED.exec(text) ?? [];
  const own = sdkError(name, message);
  if (own !== undefined) return own;
  if (level < DEEPEST && message.startsWith(TOOLS_FAILED)) {
    const inner = readText(message.slice(TOOLS_FAILED.length), level + 1);
    return { ...inner, text: message, ofTool: true };
  }
  const broke = message.indexOf(GUARDRAIL_BROKE);
  if (level < DEEPEST && name === "GuardrailExecutionError" && broke >= 0) {
    return { ...readText(message.slice(broke + GUARDRAIL_BROKE.length), level + 1), text: message };
  }
  return { text: message, error: foreignError(name, message), ofTool: false };
}

/** The SDK's own errors, by their names. */
function sdkError(name: string, message: string): ParsedError | undefined {
  switch (name) {
    case "MaxTurnsExceededError": {
      const limit = Number(TURNS.exec(message)?.[1] ?? Number.NaN);
      // A turn is a request to the model: the cap on turns is a budget of requests.
      const breach = { axis: "requests", limit, observed: limit } as const;
      return parsed(message, AgentError.usageLimitExceeded(breach));
    }
    case "InputGuardrailTripwireTriggered":
      return tripped("an input guardrail tripped");
    case "OutputGuardrailTripwireTriggered":
      return tripped("an output guardrail tripped");
    case "ToolInputGuardrailTripwireTriggered":
    case "ToolOutputGuardrailTripwireTriggered":
      return toolTripped(message);
    case "ModelRefusalError":
      return unusable("the model refused to answer");
    case "ModelBehaviorError":
      if (message.startsWith(WRONG_OUTPUT)) return unusable("the answer has the wrong output type");
      return unusable(message);
    case "InvalidToolInputError":
      return unusable(message);
    case "UserError":
      return parsed(message, AgentError.config(message));
    case "ToolTimeoutError":
      return toolLate(message);
    default:
      if (TOOL_TRIPPED.test(message)) return toolTripped(message);
      return TOOL_LATE.test(message) ? toolLate(message) : undefined;
  }
}

const parsed = (text: string, error: AgentError): ParsedError => ({ text, error, ofTool: false });

/** The tool's own time limit, not the run's. */
const toolLate = (text: string): ParsedError => ({
  text,
  error: asAgentError({ name: "TimeoutError", message: text }),
  ofTool: true,
});

/** What the guardrail refused came from the caller, or was made for the caller. */
const tripped = (text: string): ParsedError => parsed(text, AgentError.invalidRequest(text));

/** Not in the words of the error: the model sees this text, and any error may begin with that name. */
const toolTripped = (text: string): ParsedError =>
  parsed(text, AgentError.invalidRequest("a guardrail of the tool tripped"));

/** The model answered, but nothing can be done with it. */
const unusable = (text: string): ParsedError =>
  parsed(text, AgentError.modelRetry("the answer could not be used", 0));

/** Any other error goes through the one classifier, with what its text says of name, status and code. */
function foreignError(name: string, message: string): AgentError | undefined {
  const code = MCP_PREFIX.exec(message)?.[1];
  if (code !== undefined) return asAgentError({ name: "McpError", message, code: Number(code) });
  const system = SYSTEM.exec(message)?.[1];
  if (system !== undefined) return asAgentError({ name, message, code: system });
  const status = Number(STATUS.exec(message)?.[1] ?? Number.NaN);
  const thrown = { name: LOST_NAMES.get(message) ?? name, message };
  return asAgentError(Number.isNaN(status) ? thrown : { ...thrown, status });
}
