import { AgentError, isAgentError, isHttpFailure } from "./agent-error.ts";
import {
  hasName,
  listProperty,
  property,
  suppressedIn,
  textProperty,
  thrownMessage,
} from "./thrown.ts";
import { thrownHttp } from "./thrown-http.ts";
import { ofModelAnswer } from "./thrown-model-answer.ts";
import { ofGrpc, ofMcp } from "./thrown-rpc.ts";
import { transportKind } from "./thrown-transport.ts";
import { validationMessage } from "./thrown-validation.ts";

/** Bounds for following causes, which may be cyclic or, with a Proxy, endless. */
const MAX_VISITED = 64;
const MAX_ERRORS = 16;

const ABORT_NAMES = new Set([
  "AbortError",
  "CanceledError",
  "CancelError",
  "APIUserAbortError",
  "GoogleGenerativeAIAbortError",
]);
const ABORT_CODES = new Set(["ABORT_ERR", "ERR_CANCELED", "UND_ERR_ABORTED"]);
const TIMEOUT_NAMES = new Set(["TimeoutError"]);
/** The last one is the error of `parseExact`. */
const SERDE_NAMES = new Set(["AI_JSONParseError", "DataCloneError", "JsonSyntaxError"]);
const NO_CREDENTIAL_NAMES = new Set(["AI_LoadAPIKeyError"]);
const SET_UP_NAMES = new Set([
  "AI_LoadSettingError",
  "AI_NoSuchModelError",
  "AI_NoSuchProviderError",
  "AI_NoSuchProviderReferenceError",
  "AI_UnsupportedFunctionalityError",
  "AI_UnsupportedModelVersionError",
]);
const CLIENT_TIMEOUT_NAMES = new Set(["APIConnectionTimeoutError", "CohereTimeoutError"]);
const CONNECTION_NAMES = new Set(["APIConnectionError"]);
/** Results of {@link madeUpAnswer}: the caller's signal was aborted, or the reason is unknown. */
const CALLED_OFF = 499;
const NO_ANSWER = 0;
const FETCH_MESSAGES = new Set(["fetch failed", "Failed to fetch", "terminated"]);
const NOT_SERIALISABLE = /^(?:Converting circular structure to JSON|Do not know how to serialize)/;

/**
 * Converts a thrown value to an {@link AgentError}. Returns `undefined` if its meaning is not
 * known.
 *
 * An `AgentError` is returned unchanged. It recognises aborts and timeouts, `fetch` failures,
 * Node's connection errors, errors of HTTP and model clients with a status, errors of MCP and gRPC,
 * JSON errors, and errors of schema libraries, also as the cause of another error. The thrown value
 * becomes the `cause`. Never throws.
 *
 * @example
 * try { await callModel(); } catch (thrown) {
 *   throw asAgentError(thrown) ?? thrown;
 * }
 */
export function asAgentError(thrown: unknown): AgentError | undefined {
  return knownError(thrown, undefined);
}

/**
 * The same, with the schema of a tool's input if it is known. Its names may then be in the text for the model.
 */
export function knownError(thrown: unknown, schema: unknown): AgentError | undefined {
  // Breadth first, so that an error takes precedence over its cause. A set keeps the order of its values, and visits
  // each value once.
  const reached = new Set<unknown>([thrown]);
  let guess: AgentError | undefined;
  let visited = 0;
  for (const value of reached) {
    const found = strongEvidence(value, thrown, schema);
    if (found !== undefined) return found;
    guess ??= weakEvidence(value, thrown);
    visited += 1;
    if (visited === MAX_VISITED) break;
    for (const inner of causesOf(value)) reached.add(inner);
  }
  return guess;
}

/**
 * `lastError` is the AI SDK's last error, `errors` are those of an AggregateError. An error of cleaning up does not
 * explain why the work failed.
 */
function causesOf(value: unknown): readonly unknown[] {
  const causes = [property(value, "cause"), property(value, "lastError"), suppressedIn(value)];
  return [...causes, ...listProperty(value, "errors", MAX_ERRORS)].filter(
    (cause) => typeof cause === "object" && cause !== null,
  );
}

function strongEvidence(value: unknown, thrown: unknown, schema: unknown): AgentError | undefined {
  if (isAgentError(value)) return value;
  const cause = { cause: thrown };
  const http = thrownHttp(value);
  if (http !== undefined && isHttpFailure(http.status)) return fromHttp(http, value, thrown);
  const remote = ofMcp(value, thrown) ?? ofGrpc(value, thrown);
  if (remote !== undefined) return remote;
  const code = textProperty(value, "code") ?? "";
  if (ABORT_CODES.has(code) || hasName(value, ABORT_NAMES)) return fromAbort(value, thrown);
  // Before its cause: a client with its own time limit aborts the request.
  if (hasName(value, CLIENT_TIMEOUT_NAMES)) {
    return AgentError.network(messageOf(value, "timed out"), cause);
  }
  // Before the name: an HTTP client's own time limit is also a TimeoutError, but of the connection.
  const transport = isOfChildProcess(value) ? undefined : transportKind(code);
  if (transport !== undefined) return AgentError[transport](messageOf(value, code), cause);
  if (hasName(value, TIMEOUT_NAMES)) return fromTimeout(value, thrown);
  if (isSerde(value)) return AgentError.serde(messageOf(value, "invalid JSON"), cause);
  if (hasName(value, NO_CREDENTIAL_NAMES)) return AgentError.authMissing(undefined, cause);
  if (hasName(value, SET_UP_NAMES)) return AgentError.config(messageOf(value, "set-up"), cause);
  const invalid = validationMessage(value, schema);
  return invalid === undefined ? undefined : AgentError.invalidRequest(invalid, cause);
}

/** A program that exceeded its time in `execFileSync` has the same code as a connection. */
function isOfChildProcess(value: unknown): boolean {
  return textProperty(value, "syscall")?.startsWith("spawn") ?? false;
}

/** Evidence that only counts if no cause says more. */
function weakEvidence(value: unknown, thrown: unknown): AgentError | undefined {
  const http = thrownHttp(value);
  if (http !== undefined) return fromHttp(http, value, thrown);
  const message = textProperty(value, "message") ?? "";
  const failed = FETCH_MESSAGES.has(message) || hasName(value, CONNECTION_NAMES);
  if (failed) return AgentError.network(message, { cause: thrown });
  switch (madeUpAnswer(value)) {
    case CALLED_OFF:
      return AgentError.cancelled({ cause: thrown });
    case NO_ANSWER:
      // A cause that is an error says more. A text is the reason of the client's time limit.
      return typeof property(value, "cause") === "string"
        ? AgentError.network(message, { cause: thrown })
        : undefined;
    default:
      return ofModelAnswer(value, thrown);
  }
}

/**
 * The invented status of clients generated by Fern, such as Cohere's, for a request without an answer.
 */
function madeUpAnswer(value: unknown): unknown {
  const answer = property(value, "rawResponse");
  return property(answer, "type") === "error" ? property(answer, "status") : undefined;
}

function fromHttp(
  http: { readonly status: number; readonly retryAfterMs: number | undefined },
  value: unknown,
  thrown: unknown,
): AgentError {
  const message = messageOf(value, "no message");
  const { status, retryAfterMs } = http;
  return retryAfterMs === undefined
    ? AgentError.http(status, message, { cause: thrown })
    : AgentError.http(status, message, { cause: thrown, retryAfterMs });
}

/** An abort is a cancellation, unless its reason is another error. */
function fromAbort(value: unknown, thrown: unknown): AgentError {
  const reason =
    property(value, "cause") ??
    property(value, "reason") ??
    property(property(property(value, "config"), "signal"), "reason");
  if (isAgentError(reason)) return reason;
  return hasName(reason, TIMEOUT_NAMES)
    ? AgentError.deadlineExceeded({ cause: thrown })
    : AgentError.cancelled({ cause: thrown });
}

/** AWS's clients give a socket timeout the name of a deadline, and no code. */
function fromTimeout(value: unknown, thrown: unknown): AgentError {
  const cause = { cause: thrown };
  return property(value, "$metadata") === undefined
    ? AgentError.deadlineExceeded(cause)
    : AgentError.network(messageOf(value, "timed out"), cause);
}

function isSerde(value: unknown): boolean {
  const name = textProperty(value, "name");
  const message = textProperty(value, "message") ?? "";
  // An invalid regular expression or BigInt is also a SyntaxError.
  if (name === "SyntaxError") return message.includes("JSON");
  if (name === "TypeError") return NOT_SERIALISABLE.test(message);
  return hasName(value, SERDE_NAMES);
}

function messageOf(value: unknown, otherwise: string): string {
  return thrownMessage(value) ?? textProperty(value, "statusText") ?? otherwise;
}
