import { isHttpFailure } from "./agent-error.ts";
import { listProperty, property, textProperty } from "./thrown.ts";

/** An HTTP answer in an error of an HTTP client. */
export interface ThrownHttp {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Fields with the answer: axios, got and gaxios; AWS; Hugging Face. */
const RESPONSES = ["response", "$response", "httpResponse"];

/**
 * The HTTP answer in an error, in the forms of client libraries: `status`, `statusCode` or Ollama's `status_code`,
 * with `headers` (OpenAI, Anthropic, Google, a thrown `Response`) or `responseHeaders` (AI SDK), the same fields in
 * the answer, and AWS's `$metadata`.
 */
export function thrownHttp(thrown: unknown): ThrownHttp | undefined {
  const response = RESPONSES.map((key) => property(thrown, key)).find((it) => it != null);
  const status = [
    property(thrown, "status"),
    property(thrown, "statusCode"),
    property(thrown, "status_code"),
    property(response, "status"),
    property(response, "statusCode"),
    property(property(thrown, "$metadata"), "httpStatusCode"),
  ].find((value) => typeof value === "number");
  if (status === undefined) return undefined;
  const headers = [
    property(thrown, "headers"),
    property(thrown, "responseHeaders"),
    property(response, "headers"),
    // Cohere's. Its status is invented if there was no answer.
    property(property(thrown, "rawResponse"), "headers"),
  ].find((value) => typeof value === "object" && value !== null);
  // Without headers, a number named `status` may be the exit code of a child process.
  if (!isHttpFailure(status) && headers === undefined) return undefined;
  return {
    status,
    retryAfterMs: retryAfterMs(headers, Date.now()) ?? rpcRetryMs(thrown, response),
  };
}

const MAX_HEADERS = 256;
const DECIMAL = /^\d{1,10}(?:\.\d+)?$/;
const WEEKDAY = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * The wait that a provider's headers request, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as
 * an HTTP date. A wait of 0 counts as none, as in entelix.
 *
 * @param headers a `Headers`, a `Map` or a plain object. Any other value counts as empty.
 * @param now the time from which an HTTP date is measured, in milliseconds since the Unix epoch.
 */
export function retryAfterMs(headers: unknown, now: number): number | undefined {
  const ms = decimal(header(headers, "retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = header(headers, "retry-after");
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1000;
  const wait = httpDate(text) - now;
  return wait > 0 ? wait : undefined;
}

function decimal(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : 0;
  return value > 0 ? value : undefined;
}

/** `Date.parse` alone would accept "7a" or "1" as a date, and read asctime's format as local time. */
function httpDate(text: string): number {
  if (!WEEKDAY.test(text)) return Number.NaN;
  return Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
}

function header(headers: unknown, name: string): string {
  try {
    return headerText(named(headers, name));
  } catch {
    return "";
  }
}

function named(headers: unknown, name: string): unknown {
  const get = property(headers, "get");
  const direct: unknown =
    typeof get === "function" ? Reflect.apply(get, headers, [name]) : property(headers, name);
  if (headerText(direct) !== "") return direct;
  if (typeof headers !== "object" || headers === null) return undefined;
  const entries = headers instanceof Map ? headers.entries() : Object.entries(headers);
  let left = MAX_HEADERS;
  for (const [key, value] of entries) {
    if (typeof key === "string" && key.toLowerCase() === name) return value;
    left -= 1;
    if (left === 0) break;
  }
  return undefined;
}

/** Node returns repeated headers as an array. */
function headerText(value: unknown): string {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === "string" || typeof one === "number" ? String(one).trim() : "";
}

const MAX_DETAILS = 32;
/** A longer text is the content of an answer, not an error. */
const MAX_TEXT_CHARS = 65_536;
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const DURATION = /^(\d{1,10}(?:\.\d{1,9})?)s$/;

/**
 * The wait that Google's APIs request, in milliseconds. It is in the body, as a `google.rpc.RetryInfo` in the details
 * of the status.
 *
 * The details are the error's own (`@google/generative-ai`), in a parsed body (`data`: the AI SDK, gaxios), or in the
 * text of the body (`@google/genai` uses it as the message).
 *
 * @param response the answer in the error, if there is one.
 */
export function rpcRetryMs(thrown: unknown, response: unknown): number | undefined {
  const wait =
    retryMsIn(listProperty(thrown, "errorDetails", MAX_DETAILS)) ??
    retryMsOfBody(property(thrown, "data")) ??
    retryMsOfBody(property(response, "data"));
  return wait ?? retryMsOfText(thrown, "responseBody") ?? retryMsOfText(thrown, "message");
}

function retryMsOfText(thrown: unknown, key: string): number | undefined {
  const text = textProperty(thrown, key) ?? "";
  if (text.length > MAX_TEXT_CHARS || !text.includes(RETRY_INFO)) return undefined;
  try {
    return retryMsOfBody(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function retryMsOfBody(body: unknown): number | undefined {
  return retryMsIn(listProperty(property(body, "error"), "details", MAX_DETAILS));
}

/** A wait of 0 counts as none, as in headers. */
function retryMsIn(details: readonly unknown[]): number | undefined {
  const info = details.find((detail) => property(detail, "@type") === RETRY_INFO);
  const [, seconds = ""] = DURATION.exec(textProperty(info, "retryDelay") ?? "") ?? [];
  const ms = Number(seconds) * 1000;
  return ms > 0 ? ms : undefined;
}
