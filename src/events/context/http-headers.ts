import { checkRunContext, isAbsent, isTraceparent, traceIdOf, WRONG } from "./check-run-context.ts";
import { decodeText, encodeText } from "./percent-text.ts";
import {
  type CarrierOptions,
  RUN_CONTEXT_FIELDS,
  RUN_CONTEXT_HEADERS,
  type RunContext,
  type RunContextField,
  type TellIgnored,
  tellerOf,
} from "./run-context.ts";

const nameOf = (field: RunContextField) => RUN_CONTEXT_HEADERS[field];

/** Headers of `fetch`, of Node's `http`, or any object with header names as keys. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** What is written into the headers of a request. */
interface HeaderOptions extends CarrierOptions {
  /**
   * Whether `traceparent` and `tracestate` are written. Say `false` where an instrumentation of the HTTP
   * client is on: it adds its own, which name its span, and two in one request are none to most servers.
   * Default `true`.
   */
  readonly traceparent?: boolean | undefined;
}

/**
 * What is carried, as headers of an HTTP request. Ids are percent-encoded where they hold anything that
 * a header can't: no line end gets through. It never throws.
 *
 * @param carried nothing for `undefined`, so that a call outside any run is a plain one.
 *
 * @example
 * const headers = { ...writeHeaders(currentRunContext()), "content-type": "application/json" };
 * await fetch(url, { method: "POST", headers, body });
 */
export function writeHeaders(
  carried: RunContext | undefined,
  options?: HeaderOptions,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const checked = checkRunContext(carried ?? {}, nameOf, tellerOf(options));
  if (checked === undefined) return headers;
  const traced = options?.traceparent ?? true;
  for (const field of RUN_CONTEXT_FIELDS) {
    const value = checked[field];
    const isTrace = field === "traceparent" || field === "tracestate";
    if (value === undefined || (isTrace && !traced)) continue;
    headers[RUN_CONTEXT_HEADERS[field]] = isTrace ? value : encodeText(value);
  }
  return headers;
}

/**
 * What an HTTP request carries. Use it only for callers that you trust: what they send decides into
 * whose trace the spans of their run go.
 *
 * @returns `undefined` where no parent run is named, or not so that it can be used. It never throws;
 *   what is ignored is told to `onIgnored`.
 *
 * @example
 * const parent = readHeaders(request.headers, { onIgnored: (field, reason) => log(field, reason) });
 */
export function readHeaders(headers: unknown, options?: CarrierOptions): RunContext | undefined {
  const tell = tellerOf(options);
  let values: ReadonlyMap<string, readonly unknown[]>;
  try {
    values = valuesOf(headers);
  } catch {
    tell("headers", "unreadable");
    return undefined;
  }
  const given: { [K in RunContextField]?: unknown } = {};
  for (const field of RUN_CONTEXT_FIELDS) {
    const name = RUN_CONTEXT_HEADERS[field];
    given[field] = oneOfMany(field, values.get(name) ?? [], readerOf(field), name, tell);
  }
  return checkRunContext(given, nameOf, tell);
}

/** The wanted headers of a request, each with all its values. */
function valuesOf(headers: unknown): ReadonlyMap<string, readonly unknown[]> {
  const wanted = new Map<string, unknown[]>();
  for (const field of RUN_CONTEXT_FIELDS) wanted.set(RUN_CONTEXT_HEADERS[field], []);
  if (typeof headers !== "object" || headers === null) throw new TypeError("no headers");
  if ("get" in headers && typeof headers.get === "function") {
    for (const [name, values] of wanted) values.push(headers.get(name));
    return wanted;
  }
  for (const [name, value] of Object.entries(headers)) {
    // A header of 8 KB is no name of ours, and need not be written in small letters to see that.
    if (name.length > 32) continue;
    const values = wanted.get(name.toLowerCase());
    if (values === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) values.push(each);
  }
  return wanted;
}

const asItIs: ReadText = (text) => text;

function readerOf(field: RunContextField): ReadText {
  return field === "traceparent" || field === "tracestate" ? asItIs : decodeText;
}

/** What a value stands for; `undefined` when it can't be read. */
type ReadText = (text: string) => string | undefined;

/** Bytes that the values of one header may have: an id, encoded, and twice at that. */
const MOST_LENGTH = 16_384;

/**
 * The one value of a header that may have come several times: as a list, or with commas between, as
 * servers join them. No value of ours has a comma in it, but a `tracestate` has: its lists are joined.
 *
 * Of several `traceparent` in one trace the last counts: an instrumentation of the HTTP client adds its
 * own behind one that was set by hand, and it names the span that is nearer to the receiver.
 */
function oneOfMany(
  field: RunContextField,
  values: readonly unknown[],
  read: ReadText,
  name: string,
  tell: TellIgnored,
): unknown {
  const texts: string[] = [];
  let length = 0;
  for (const value of values) {
    if (isAbsent(value)) continue;
    if (typeof value !== "string") return refused(name, "malformed", tell);
    length += value.length;
    if (length > MOST_LENGTH) return refused(name, "too_long", tell);
    texts.push(value);
  }
  if (field === "tracestate") return texts.length === 0 ? undefined : texts.join(",");
  const parts = texts.flatMap((text) => text.split(",")).map((part) => part.trim());
  const different = [...new Set(parts.filter((part) => part !== ""))];
  const last = different.at(-1);
  if (last === undefined) return undefined;
  if (different.length > 1 && !(field === "traceparent" && isOneTrace(different))) {
    return refused(name, "repeated", tell);
  }
  return read(last) ?? refused(name, "malformed", tell);
}

function isOneTrace(traceparents: readonly string[]): boolean {
  const traceIds = new Set(traceparents.map(traceIdOf));
  return traceIds.size === 1 && traceparents.every(isTraceparent);
}

/** It was told: the checks that follow need not do so again. */
function refused(
  name: string,
  reason: "malformed" | "too_long" | "repeated",
  tell: TellIgnored,
): typeof WRONG {
  tell(name, reason);
  return WRONG;
}
