import { AgentError, asAgentError, MCP_PREFIX, textProperty } from "../../events/door.ts";
import { type Failure, fieldsOf, textOf } from "../core/door.ts";
import type { SdkSpanError } from "./sdk.ts";
import type { CodeOutcome, SpanFailure } from "./trace-record.ts";

/** The error of a span. The SDK keeps the text of an error, not the error itself. */
export interface ParsedError {
  /** The operator's text. */
  readonly text: string;
  /** The error's meaning. `undefined`: not known. */
  readonly error: AgentError | undefined;
  /** Whether a tool threw it and the SDK ended the run. */
  readonly ofTool: boolean;
  /** Whether a guardrail of the agent tripped. */
  readonly ofGuardrail?: true;
  /** Class name, if the SDK kept it. */
  readonly name?: string | undefined;
  /** The thrown value, if `withSpan` saw it. */
  readonly thrown?: { readonly value: unknown } | undefined;
}

/** The run was aborted, or its reader left, so the rest of the answer is not read. */
export const BROKEN_OFF: ParsedError = {
  text: "the stream was broken off",
  error: AgentError.cancelled(),
  ofTool: false,
};

const SHARED_ID = "another tenant used the ID of this trace at the same time";

/** Two traces of one ID are open, and their tenants differ. */
export const SHARED: ParsedError = {
  text: SHARED_ID,
  error: AgentError.invalidRequest(SHARED_ID),
  ofTool: false,
};

/** `Name: message`, the string form of an error. */
const PRINTED = /^([A-Za-z_$][\w$]*): ([\s\S]*)$/;
/** Node's text before the code of a failed connection or look-up. */
const SYSTEM = /^(?:connect|read|write|getaddrinfo|query[A-Za-z]*) (E[A-Z_]+)\b/;
/** Class names. Other words may also stand before a colon. */
const CLASS = /^[A-Za-z_$][\w$]*(?:Error|Exception|Triggered)$/;
/** The status that OpenAI's client puts before a provider's message. */
const STATUS = /^([45]\d\d) /;
const TURNS = /^Max turns \((\d{1,6})\) exceeded/;
/** On a tool's span before SDK 0.20, which does not keep the error's name. */
const TOOL_TRIPPED = /^Tool (?:input|output) guardrail triggered: /;
const TOOL_LATE = /^Tool '.*' timed out after \d+ms\.$/s;
/** The rest of this text quotes the model's answer. */
const WRONG_OUTPUT = "Invalid output type: ";
const TOOLS_FAILED = "Failed to run function tools: ";
/** The SDK keeps nothing of a thrown text or `null`. */
const NO_TEXT = "something that is no error was thrown";
const GUARDRAIL_BROKE = " guardrail failed to complete: ";

/** Names that the SDK loses, by the fixed message of the error. */
const LOST_NAMES: ReadonlyMap<string, string> = new Map([
  ["Request was aborted.", "APIUserAbortError"],
  ["This operation was aborted", "AbortError"],
  ["The operation was aborted", "AbortError"],
  ["The operation was aborted due to timeout", "TimeoutError"],
  ["Connection error.", "APIConnectionError"],
  ["Request timed out.", "APIConnectionTimeoutError"],
]);

/**
 * Reads a span's error. Texts with content of a user or model (findings of a guardrail, a refusal, an answer of the
 * wrong type) are replaced by fixed texts, because an error's text is for operators.
 */
export function parseSpanError({ message, data }: SdkSpanError): ParsedError {
  // Models of `@openai/agents-extensions` store name, message and status as fields.
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
 * The failure for the writer. Class and message are sent as far as known, the stack only if `withSpan` saw the error.
 */
export function reported({ parsed, source }: SpanFailure): Failure {
  const { name = "Error", text, thrown } = parsed;
  const shown = thrown === undefined ? { name, message: text } : thrown.value;
  return { thrown: thrownIn(parsed), source, text, shown };
}

/** The thrown value, or a substitute with the same meaning if the SDK only kept its text. */
export function thrownIn({ error, text, thrown }: ParsedError): unknown {
  if (thrown !== undefined) return thrown.value;
  return error?.cause ?? error ?? new Error(text);
}

/**
 * Adds the error that `withSpan` saw, if the span failed with the same one. The code may have caught an earlier
 * error.
 */
export function withThrown(
  parsed: ParsedError,
  { data, message }: SdkSpanError,
  outcome: CodeOutcome | undefined,
): ParsedError {
  if (outcome === undefined || !("thrown" in outcome)) return parsed;
  const { thrown } = outcome;
  // The SDK sets one of the two, depending on where it catches the error.
  const known = textOf(data?.error);
  const isSame =
    known === undefined ? message === textProperty(thrown, "message") : known === printed(thrown);
  if (!isSame) return parsed;
  return { ...parsed, error: asAgentError(thrown), thrown: { value: thrown } };
}

/** The string form that the SDK writes. */
function printed(thrown: unknown): string | undefined {
  try {
    return String(thrown);
  } catch {
    return undefined;
  }
}

/** Maximum depth of nested errors that are read. */
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

/** Errors of the SDK itself, by name. */
function sdkError(name: string, message: string): ParsedError | undefined {
  switch (name) {
    case "MaxTurnsExceededError": {
      const limit = Number(TURNS.exec(message)?.[1] ?? Number.NaN);
      // A turn is a model request, so the limit of turns is a budget of requests.
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

/** The time limit of the tool, not of the run. */
const toolLate = (text: string): ParsedError => ({
  text,
  error: asAgentError({ name: "TimeoutError", message: text }),
  ofTool: true,
});

/** A guardrail refuses the caller's input, or the answer to it. */
const tripped = (text: string): ParsedError => ({
  ...parsed(text, AgentError.invalidRequest(text)),
  ofGuardrail: true,
});

/** A fixed text, because the model sees it, and other errors may start with the same words. */
const toolTripped = (text: string): ParsedError =>
  parsed(text, AgentError.invalidRequest("a guardrail of the tool tripped"));

/** The model answered, but the answer cannot be used. */
const unusable = (text: string): ParsedError =>
  parsed(text, AgentError.modelRetry("the answer could not be used", 0));

/** Classifies other errors by the name, status and code in their text. */
function foreignError(name: string, message: string): AgentError | undefined {
  const code = MCP_PREFIX.exec(message)?.[1];
  if (code !== undefined) return asAgentError({ name: "McpError", message, code: Number(code) });
  const system = SYSTEM.exec(message)?.[1];
  if (system !== undefined) return asAgentError({ name, message, code: system });
  const status = Number(STATUS.exec(message)?.[1] ?? Number.NaN);
  const thrown = { name: LOST_NAMES.get(message) ?? name, message };
  return asAgentError(Number.isNaN(status) ? thrown : { ...thrown, status });
}
