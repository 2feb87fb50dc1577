import { isHttpFailure } from "./agent-error.ts";
import { listProperty, property, textProperty } from "./thrown.ts";

/** What an error of an HTTP client says about the answer. */
export interface ThrownHttp {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Where the answer itself is: axios, got and gaxios; AWS; Hugging Face. */
const RESPONSES = ["response", "$response", "httpResponse"];

/**
 * The HTTP answer that an error carries, in the shapes that client libraries give it: `status`,
 * `statusCode` or Ollama's `status_code`, with `headers` (OpenAI, Anthropic, Google, a thrown
 * `Response`) or `responseHeaders` (AI SDK), the same below the answer, and AWS's `$metadata`.
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
    // Cohere's; its status is made up where there was no answer.
    property(property(thrown, "rawResponse"), "headers"),
  ].find((value) => typeof value === "object" && value !== null);
  // Another number named `status` may as well be the exit code of a child process.
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
 * How long a provider's headers ask to wait, in milliseconds: `retry-after-ms`, else `retry-after`
 * in seconds or as an HTTP date.
 *
 * As upstream has it, no time at all is no hint.
 *
 * @param headers a `Headers`, a `Map` or a plain object; anything else has none.
 * @param now what an HTTP date is measured from, in milliseconds since the Unix epoch.
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

/** `Date.parse` alone would take "7a" or "1" for a date, and read asctime's as local time. */
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

/** Node gives repeated headers as an array. */
function headerText(value: unknown): string {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === "string" || typeof one === "number" ? String(one).trim() : "";
}

const MAX_DETAILS = 32;
/** A longer text is an answer's content rather than an error. */
const MAX_TEXT_CHARS = 65_536;
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const DURATION = /^(\d{1,10}(?:\.\d{1,9})?)s$/;

/**
 * How long Google's APIs ask to wait, in milliseconds: they say it in the body, as a
 * `google.rpc.RetryInfo` among the details of the status, and not in a header.
 *
 * The details are the error's own (`@google/generative-ai`), or in a body that was read (`data`: the
 * AI SDK, gaxios), or in the text of one (`@google/genai` has it for a message).
 *
 * @param response the answer that the error holds, if it holds one.
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

/** As of a header, no time at all is no hint. */
function retryMsIn(details: readonly unknown[]): number | undefined {
  const info = details.find((detail) => property(detail, "@type") === RETRY_INFO);
  const [, seconds = ""] = DURATION.exec(textProperty(info, "retryDelay") ?? "") ?? [];
  const ms = Number(seconds) * 1000;
  return ms > 0 ? ms : undefined;
}
