import { property } from "./thrown-property.ts";

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
