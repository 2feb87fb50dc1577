import { checkRunContext, isAbsent, isTraceparent, traceIdOf, WRONG } from "./check-run-context.ts";
import {
  type CarrierOptions,
  decodeText,
  encodeText,
  type ReportIgnored,
  RUN_CONTEXT_FIELDS,
  RUN_CONTEXT_HEADERS,
  type RunContext,
  type RunContextField,
  reporterOf,
} from "./run-context.ts";

const nameOf = (field: RunContextField) => RUN_CONTEXT_HEADERS[field];

/** Headers of `fetch`, of Node's `http`, or any object with header names as keys. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** Options for writing the headers of a request. */
interface HeaderOptions extends CarrierOptions {
  /**
   * Whether `traceparent` and `tracestate` are written. Use `false` if an instrumentation of the HTTP client is
   * active: it adds its own headers with its own span, and most servers ignore two of them. Default `true`.
   */
  readonly traceparent?: boolean | undefined;
}

/**
 * The run context as headers of an HTTP request. IDs are percent-encoded if they contain characters that a header
 * does not allow, such as line ends. It never throws.
 *
 * @param carried `undefined` gives no headers, so that a call outside any run is unchanged.
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
  const checked = checkRunContext(carried ?? {}, nameOf, reporterOf(options));
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
 * Reads the run context of an HTTP request. Use it only for callers that you trust, because they decide the trace of
 * their run's spans.
 *
 * @returns `undefined` without a valid parent run. It never throws, and reports ignored fields to `onIgnored`.
 *
 * @example
 * const parent = readHeaders(request.headers, { onIgnored: (field, reason) => log(field, reason) });
 */
export function readHeaders(headers: unknown, options?: CarrierOptions): RunContext | undefined {
  const report = reporterOf(options);
  let values: ReadonlyMap<string, readonly unknown[]>;
  try {
    values = valuesOf(headers);
  } catch {
    report("headers", "unreadable");
    return undefined;
  }
  const given: { [K in RunContextField]?: unknown } = {};
  for (const field of RUN_CONTEXT_FIELDS) {
    const name = RUN_CONTEXT_HEADERS[field];
    given[field] = oneOfMany(field, values.get(name) ?? [], readerOf(field), name, report);
  }
  return checkRunContext(given, nameOf, report);
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
    // Skips long headers before they are converted to lower case.
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

/** Decodes a value. `undefined` if it is invalid. */
type ReadText = (text: string) => string | undefined;

/** Most bytes of the values of one header. */
const MOST_LENGTH = 16_384;

/**
 * The one value of a header that occurs several times: as a list, or joined with commas, as servers do. Only a
 * `tracestate` may contain commas. Its lists are joined.
 *
 * If several `traceparent` are in one trace, the last counts: an instrumentation of the HTTP client adds its own
 * behind one that was set by hand, and its span is nearer to the receiver.
 */
function oneOfMany(
  field: RunContextField,
  values: readonly unknown[],
  read: ReadText,
  name: string,
  report: ReportIgnored,
): unknown {
  const texts: string[] = [];
  let length = 0;
  for (const value of values) {
    if (isAbsent(value)) continue;
    if (typeof value !== "string") return refused(name, "malformed", report);
    length += value.length;
    if (length > MOST_LENGTH) return refused(name, "too_long", report);
    texts.push(value);
  }
  if (field === "tracestate") return texts.length === 0 ? undefined : texts.join(",");
  const parts = texts.flatMap((text) => text.split(",")).map((part) => part.trim());
  const different = [...new Set(parts.filter((part) => part !== ""))];
  const last = different.at(-1);
  if (last === undefined) return undefined;
  if (different.length > 1 && !(field === "traceparent" && isOneTrace(different))) {
    return refused(name, "repeated", report);
  }
  return read(last) ?? refused(name, "malformed", report);
}

function isOneTrace(traceparents: readonly string[]): boolean {
  const traceIds = new Set(traceparents.map(traceIdOf));
  return traceIds.size === 1 && traceparents.every(isTraceparent);
}

/** Reports a field as ignored. Later checks must not report it again. */
function refused(
  name: string,
  reason: "malformed" | "too_long" | "repeated",
  report: ReportIgnored,
): typeof WRONG {
  report(name, reason);
  return WRONG;
}
