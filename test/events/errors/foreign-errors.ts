import type { FailureKindId, ToolErrorKind } from "../../../src/events/errors/error-kinds.ts";
import { parseExact } from "../../../src/events/exact-json.ts";
import {
  cancelled,
  deadline,
  dispatch,
  dns,
  invalid,
  limited,
  network,
  quota,
  serde,
  tls,
  unusable,
} from "./foreign-classes.ts";

/** A thrown value and what it is to be taken for. */
export interface ForeignCase {
  readonly name: string;
  readonly thrown: unknown;
  readonly failure: FailureKindId;
  readonly tool: ToolErrorKind;
  readonly code: string;
}

/** An error with the own properties that a client library gives it. */
function error(message: string, properties: object = {}, options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), properties);
}

function fetchFailed(code: string): TypeError {
  return new TypeError("fetch failed", { cause: error(`connect ${code}`, { code }) });
}

/** An application's own error, which says nothing but by its cause. */
function causedBy(code: string): Error {
  return new Error("step 3 failed", { cause: error(code, { code }) });
}

class APIError extends Error {}
class RateLimitError extends APIError {}
class APIUserAbortError extends APIError {}
class APIConnectionError extends APIError {}
class APIConnectionTimeoutError extends APIConnectionError {}
class LengthFinishReasonError extends Error {}
class GoogleGenerativeAIAbortError extends Error {}
class CohereTimeoutError extends Error {}

/** What Gemini says to a 429. */
const GOOGLE_DETAILS = [
  { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaValue: "15" }] },
  { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" },
];

/** The answer that Cohere's client makes up where none came. */
const MADE_UP = { headers: new Headers(), redirected: false, type: "error", url: "" };

/** Model and HTTP clients, in the shapes that the named versions throw against a local server. */
export const CLIENT_ERRORS: readonly ForeignCase[] = [
  {
    // All errors of openai are named "Error": only the class tells them apart.
    name: "openai 6 429",
    thrown: Object.assign(new RateLimitError("429 slow down"), {
      status: 429,
      headers: new Headers({ "retry-after": "7" }),
      code: 429,
      type: "rate_limit_error",
    }),
    ...limited,
  },
  {
    name: "openai connection refused",
    thrown: new APIConnectionError("Connection error.", { cause: fetchFailed("ECONNREFUSED") }),
    ...network,
  },
  {
    name: "openai unknown host",
    thrown: new APIConnectionError("Connection error.", { cause: fetchFailed("ENOTFOUND") }),
    ...dns,
  },
  {
    name: "openai time-out",
    thrown: new APIConnectionTimeoutError("Request timed out."),
    ...network,
  },
  {
    name: "openai aborted by the caller",
    thrown: new APIUserAbortError("Request was aborted."),
    ...cancelled,
  },
  {
    name: "anthropic 529 overloaded",
    thrown: error('529 {"type":"error"}', {
      name: "InternalServerError",
      status: 529,
      headers: new Headers(),
    }),
    ...dispatch,
    tool: "transient",
    code: "upstream_unavailable",
  },
  {
    // Both clients throw the base class, with what the stream said, and no status: it was 200.
    name: "openai 6, an error in the middle of a stream",
    thrown: Object.assign(new APIError("The server had an error"), {
      status: undefined,
      headers: new Headers(),
      error: { message: "The server had an error", type: "server_error", code: null },
      code: null,
      type: "server_error",
    }),
    ...network,
  },
  {
    name: "openai 6, an error of an assistant's stream, without headers",
    thrown: Object.assign(new APIError("busy"), { status: undefined, error: { message: "busy" } }),
    ...network,
  },
  {
    name: "anthropic 1, overloaded in the middle of a stream",
    thrown: error('{"type":"error","error":{"type":"overloaded_error"}}', {
      name: "APIError",
      status: undefined,
      headers: new Headers(),
      error: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      type: "overloaded_error",
    }),
    ...network,
  },
  {
    name: "google genai 2 429",
    thrown: error('{"error":{"code":429}}', { name: "ApiError", status: 429 }),
    ...quota,
  },
  {
    // The wait is in the body, which is the error's message; the client keeps no headers.
    name: "google genai 2 429 with the time to wait",
    thrown: error(JSON.stringify({ error: { code: 429, details: GOOGLE_DETAILS } }), {
      name: "ApiError",
      status: 429,
    }),
    ...limited,
  },
  {
    name: "google genai 2 429 of a message that is no JSON",
    thrown: error("type.googleapis.com/google.rpc.RetryInfo 36s", {
      name: "ApiError",
      status: 429,
    }),
    ...quota,
  },
  {
    name: "google generative-ai 0.24 429",
    thrown: error("[GoogleGenerativeAI Error]: [429 Too Many Requests] slow", {
      status: 429,
      errorDetails: GOOGLE_DETAILS,
    }),
    ...limited,
  },
  {
    name: "google generative-ai 0.24 aborted",
    thrown: new GoogleGenerativeAIAbortError("Request aborted when fetching http://h/"),
    ...cancelled,
  },
  {
    name: "gaxios 429 of a Google API",
    thrown: error("Quota exceeded", {
      name: "GaxiosError",
      status: 429,
      response: { status: 429, headers: {}, data: { error: { details: GOOGLE_DETAILS } } },
    }),
    ...limited,
  },
  {
    name: "AI SDK 429 of Google's",
    thrown: error("Quota exceeded", {
      name: "AI_APICallError",
      statusCode: 429,
      responseHeaders: {},
      responseBody: JSON.stringify({ error: { details: GOOGLE_DETAILS } }),
    }),
    ...limited,
  },
  {
    name: "google 429 that asks for no wait",
    thrown: error("Quota exceeded", {
      status: 429,
      errorDetails: [{ ...GOOGLE_DETAILS[1], retryDelay: "0s" }],
    }),
    ...quota,
  },
  {
    name: "axios 429",
    thrown: error("Request failed with status code 429", {
      name: "AxiosError",
      code: "ERR_BAD_REQUEST",
      status: 429,
      response: { status: 429, headers: { "retry-after": "7" } },
    }),
    ...limited,
  },
  {
    name: "axios time-out",
    thrown: error("timeout of 50ms exceeded", { name: "AxiosError", code: "ECONNABORTED" }),
    ...network,
  },
  {
    name: "axios cancelled",
    thrown: error("canceled", { name: "CanceledError", code: "ERR_CANCELED" }),
    ...cancelled,
  },
  {
    name: "axios cancelled by AbortSignal.timeout",
    thrown: error("canceled", {
      name: "CanceledError",
      code: "ERR_CANCELED",
      config: { signal: { reason: new DOMException("timed out", "TimeoutError") } },
    }),
    ...deadline,
  },
  {
    name: "got 429",
    thrown: error("Request failed with status code 429", {
      name: "HTTPError",
      code: "ERR_NON_2XX_3XX_RESPONSE",
      response: { statusCode: 429, headers: { "retry-after": "7" } },
    }),
    ...limited,
  },
  {
    name: "got's own time limit, a TimeoutError of the connection",
    thrown: error("Timeout awaiting 'request' for 50ms", {
      name: "TimeoutError",
      code: "ETIMEDOUT",
    }),
    ...network,
  },
  {
    name: "AI SDK 429",
    thrown: error("m", {
      name: "AI_APICallError",
      statusCode: 429,
      responseHeaders: { "retry-after-ms": "1250" },
    }),
    ...limited,
  },
  {
    name: "AI SDK gave up retrying",
    thrown: error("Failed after 3 attempts", {
      name: "AI_RetryError",
      errors: [error("a", { statusCode: 503 }), error("b", { statusCode: 401 })],
      lastError: error("b", { statusCode: 401 }),
    }),
    ...dispatch,
    tool: "auth",
    code: "upstream_unauthorized",
  },
  {
    name: "AI SDK without a key",
    thrown: error("API key is missing", { name: "AI_LoadAPIKeyError" }),
    ...dispatch,
    tool: "auth",
    code: "auth_failed",
  },
  {
    name: "AI SDK read a 200 answer that is no JSON",
    thrown: error(
      "Invalid JSON response",
      { name: "AI_APICallError", statusCode: 200, responseHeaders: {} },
      { cause: new SyntaxError("Unexpected token '<', \"<html>\" is not valid JSON") },
    ),
    ...serde,
  },
  {
    name: "AI SDK, the text of a stream that failed",
    thrown: error("No output generated. Check the stream for errors.", {
      name: "AI_NoOutputGeneratedError",
    }),
    ...unusable,
  },
  {
    name: "AI SDK, an object that does not match",
    thrown: error(
      "No object generated: response did not match schema.",
      { name: "AI_NoObjectGeneratedError" },
      { cause: error("Type validation failed", { name: "AI_TypeValidationError" }) },
    ),
    ...invalid,
  },
  {
    name: "AI SDK, a call of a tool that there is not",
    thrown: error("Model tried to call unavailable tool 'zap'.", { name: "AI_NoSuchToolError" }),
    ...unusable,
  },
  ...["AI_InvalidStreamPartError", "AI_ToolChoiceViolationError"].map((name) => ({
    name: `AI SDK, ${name}`,
    thrown: error("Model response did not contain a tool call.", { name }),
    ...unusable,
  })),
  ...[
    "AI_InvalidDataContentError",
    "AI_InvalidMessageRoleError",
    "AI_InvalidToolApprovalError",
    "AI_InvalidToolApprovalSignatureError",
    "AI_MessageConversionError",
    "AI_MissingToolResultsError",
    "AI_ToolCallNotFoundForApprovalError",
  ].map((name) => ({
    name: `AI SDK, ${name}`,
    thrown: error("Tool result is missing for tool call call_1.", { name }),
    ...invalid,
  })),
  {
    name: "AI SDK without a setting",
    thrown: error("AWS region setting is missing.", { name: "AI_LoadSettingError" }),
    failure: "internal",
    tool: "internal",
    code: "config_error",
  },
  {
    // The part of the stream holds what came, which is no error.
    name: "AI SDK, Anthropic overloaded in the middle of a stream",
    thrown: { type: "overloaded_error", message: "Overloaded" },
    ...network,
  },
  {
    name: "AI SDK, an error in the middle of OpenAI's Responses",
    thrown: { type: "error", sequence_number: 3, error: { message: "busy", code: "server_error" } },
    ...network,
  },
  {
    name: "openai 6, an answer cut by its limit",
    thrown: new LengthFinishReasonError("Could not parse response content"),
    ...unusable,
  },
  {
    name: "AWS 3 throttled in the middle of a stream",
    thrown: error("slow down", {
      name: "ThrottlingException",
      $fault: "client",
      $response: undefined,
      $retryable: undefined,
      $metadata: undefined,
    }),
    ...network,
  },
  {
    name: "AWS 3, a stream cut in the middle of a message",
    thrown: new Error("Truncated event message received."),
    ...network,
  },
  {
    name: "google genai 2, a stream cut in the middle of a message",
    thrown: new Error("Incomplete JSON segment at the end"),
    ...network,
  },
  {
    name: "AWS 503",
    thrown: error("busy", {
      name: "ServiceUnavailableException",
      $metadata: { httpStatusCode: 503 },
      $response: { headers: {} },
    }),
    ...dispatch,
    tool: "transient",
    code: "upstream_unavailable",
  },
  {
    name: "AWS 3 with a socket that timed out",
    thrown: error("the request socket timed out after 3100 ms of inactivity", {
      name: "TimeoutError",
      $metadata: { attempts: 1, totalRetryDelay: 0 },
    }),
    ...network,
  },
  {
    name: "cohere 8 429",
    thrown: error("TooManyRequestsError Status code: 429", {
      name: "TooManyRequestsError",
      statusCode: 429,
      rawResponse: { status: 429, headers: new Headers({ "retry-after": "7" }) },
    }),
    ...limited,
  },
  {
    name: "cohere 8 without an answer",
    thrown: error(
      "fetch failed",
      { name: "CohereError", rawResponse: { status: 499, headers: new Headers() } },
      { cause: fetchFailed("ENOTFOUND") },
    ),
    ...dns,
  },
  {
    // Its own time limit: the signal's reason is a text, which `fetch` throws as it is.
    name: "cohere 8 time-out",
    thrown: error(
      '"timeout"',
      { name: "CohereError", rawResponse: { ...MADE_UP, status: 0 } },
      { cause: "timeout" },
    ),
    ...network,
  },
  {
    name: "cohere 8 time-out, where fetch throws an AbortError",
    thrown: error(
      "Timeout exceeded when calling POST /v1/chat.",
      { name: "CohereTimeoutError" },
      { cause: new DOMException("This operation was aborted", "AbortError") },
    ),
    ...network,
  },
  { name: "cohere 7 time-out", thrown: new CohereTimeoutError("Timeout"), ...network },
  {
    name: "cohere 8 aborted for a reason of the caller's own",
    thrown: error(
      "The user aborted a request",
      { name: "CohereError", rawResponse: { ...MADE_UP, status: 499 } },
      { cause: new Error("user left") },
    ),
    ...cancelled,
  },
  {
    name: "cohere 8 aborted by AbortSignal.timeout",
    thrown: error(
      "The user aborted a request",
      { name: "CohereError", rawResponse: { ...MADE_UP, status: 499 } },
      { cause: new DOMException("timed out", "TimeoutError") },
    ),
    ...deadline,
  },
  {
    name: "hugging face 4 429",
    thrown: error("Failed to perform inference: no", {
      name: "ProviderApiError",
      httpRequest: { method: "POST" },
      httpResponse: { requestId: "", status: 429, body: { error: "no" } },
    }),
    ...quota,
  },
  {
    name: "ollama 0.6 503",
    thrown: error("busy", { name: "ResponseError", error: "busy", status_code: 503 }),
    ...dispatch,
    tool: "transient",
    code: "upstream_unavailable",
  },
  {
    name: "a thrown Response",
    thrown: new Response(null, { status: 404, statusText: "Not Found" }),
    ...dispatch,
    tool: "permanent",
    code: "upstream_invalid",
  },
  {
    name: "a redirect that nobody followed",
    thrown: error("redirected", { status: 302, headers: { location: "/" } }),
    ...network,
  },
];

/** What Node and undici throw. */
export const NODE_ERRORS: readonly ForeignCase[] = [
  ...["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE", "UND_ERR_CONNECT_TIMEOUT"].map(
    (code) => ({ name: `the cause ${code}`, thrown: causedBy(code), ...network }),
  ),
  ...["UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "HPE_INVALID_CONSTANT"].map((code) => ({
    name: `the cause ${code}`,
    thrown: causedBy(code),
    ...network,
  })),
  ...["ERR_HTTP2_STREAM_ERROR", "ERR_HTTP2_SESSION_ERROR", "ERR_HTTP2_GOAWAY_SESSION"].map(
    (code) => ({ name: `the cause ${code}`, thrown: causedBy(code), ...network }),
  ),
  ...["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "ESERVFAIL", "ETIMEOUT"].map((code) => ({
    name: `the cause ${code}`,
    thrown: causedBy(code),
    ...dns,
  })),
  ...[
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "EPROTO",
  ].map((code) => ({ name: `the cause ${code}`, thrown: causedBy(code), ...tls })),
  { name: "fetch failed for no known reason", thrown: new TypeError("fetch failed"), ...network },
  {
    name: "happy eyeballs",
    thrown: new TypeError("fetch failed", {
      cause: Object.assign(
        new AggregateError([error("::1", { code: "ECONNREFUSED" }), error("127.0.0.1")]),
        { code: "ECONNREFUSED" },
      ),
    }),
    ...network,
  },
  {
    name: "an AggregateError of which only a member tells",
    thrown: new AggregateError([new Error("a"), error("b", { code: "ENOTFOUND" })]),
    ...dns,
  },
  {
    // As TypeScript makes it where the runtime has none.
    name: "a SuppressedError, of `using`",
    thrown: error("An error was suppressed during disposal.", {
      name: "SuppressedError",
      error: error("closing failed", { code: "ECONNRESET" }),
      suppressed: new Error("step 3", { cause: error("b", { code: "ENOTFOUND" }) }),
    }),
    ...dns,
  },
  {
    name: "a system error without a fetch",
    thrown: error("read ECONNRESET", { code: "ECONNRESET", errno: -104, syscall: "read" }),
    ...network,
  },
  { name: "AbortError", thrown: new DOMException("aborted", "AbortError"), ...cancelled },
  { name: "AbortError by name", thrown: error("x", { name: "AbortError" }), ...cancelled },
  {
    name: "AbortError because of a TimeoutError",
    thrown: error(
      "The operation was aborted",
      { name: "AbortError", code: "ABORT_ERR" },
      { cause: new DOMException("timed out", "TimeoutError") },
    ),
    ...deadline,
  },
  {
    name: "AbortError whose reason is a TimeoutError",
    thrown: error("x", { name: "AbortError", reason: error("t", { name: "TimeoutError" }) }),
    ...deadline,
  },
  { name: "TimeoutError", thrown: new DOMException("timed out", "TimeoutError"), ...deadline },
  {
    name: "a TimeoutError wrapped by the application",
    thrown: new Error("search failed", { cause: new DOMException("t", "TimeoutError") }),
    ...deadline,
  },
];

/** JSON and schema libraries. */
export const DATA_ERRORS: readonly ForeignCase[] = [
  { name: "JSON.parse", thrown: thrownBy(() => JSON.parse("{")), ...serde },
  { name: "parseExact", thrown: thrownBy(() => parseExact("{")), ...serde },
  { name: "JSON.stringify of a bigint", thrown: thrownBy(() => JSON.stringify(1n)), ...serde },
  { name: "JSON.stringify of a cycle", thrown: thrownBy(stringifyCycle), ...serde },
  { name: "structuredClone", thrown: thrownBy(() => structuredClone(() => {})), ...serde },
  {
    name: "zod 4",
    thrown: error("[…]", {
      name: "ZodError",
      issues: [{ code: "invalid_type", expected: "string", path: ["a"], message: "Invalid input" }],
    }),
    ...invalid,
  },
  {
    name: "a Standard Schema error of an unknown library",
    thrown: error("no", { name: "Unheard", issues: [{ message: "no" }] }),
    ...invalid,
  },
  {
    name: "ajv",
    thrown: error("validation failed", {
      errors: [{ keyword: "required", schemaPath: "#/required", message: "must have 'a'" }],
    }),
    ...invalid,
  },
  { name: "joi and yup", thrown: error("x", { name: "ValidationError" }), ...invalid },
];

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("expected it to throw");
}

function stringifyCycle(): string {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  return JSON.stringify(cycle);
}
