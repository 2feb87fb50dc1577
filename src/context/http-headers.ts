import { CARRIED_FIELDS, type CarriedContext, type CarriedField } from "./carried-context.ts";
import { checkCarried } from "./check-carried.ts";
import { type CarryOptions, tellerOf } from "./ignored-field.ts";
import { decodeText, encodeText } from "./percent-text.ts";
import { oneOfMany, type ReadText } from "./repeated-values.ts";

/** The header of each field; HTTP does not tell upper from lower case. */
const HEADERS = {
  traceparent: "traceparent",
  tracestate: "tracestate",
  root_run_id: "entelix-root-run-id",
  parent_run_id: "entelix-parent-run-id",
  parent_tool_use_id: "entelix-parent-tool-use-id",
  thread_id: "entelix-thread-id",
} as const satisfies Record<CarriedField, string>;

const nameOf = (field: CarriedField) => HEADERS[field];

/** Headers as they are met: of `fetch`, of Node's `http`, or any object with their names. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** What is written into the headers of a request. */
export interface ToHeadersOptions extends CarryOptions {
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
 * const headers = { ...toHeaders(carryCurrent()), "content-type": "application/json" };
 * await fetch(url, { method: "POST", headers, body });
 */
export function toHeaders(
  carried: CarriedContext | undefined,
  options?: ToHeadersOptions,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const checked = checkCarried(carried ?? {}, nameOf, tellerOf(options));
  if (checked === undefined) return headers;
  const traced = options?.traceparent ?? true;
  for (const field of CARRIED_FIELDS) {
    const value = checked[field];
    const isTrace = field === "traceparent" || field === "tracestate";
    if (value === undefined || (isTrace && !traced)) continue;
    headers[HEADERS[field]] = isTrace ? value : encodeText(value);
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
 * const parent = fromHeaders(request.headers, { onIgnored: (field, reason) => log(field, reason) });
 */
export function fromHeaders(
  headers: HeadersLike,
  options?: CarryOptions,
): CarriedContext | undefined {
  const tell = tellerOf(options);
  let values: ReadonlyMap<string, readonly unknown[]>;
  try {
    values = valuesOf(headers);
  } catch {
    tell("headers", "unreadable");
    return undefined;
  }
  const given: { [K in CarriedField]?: unknown } = {};
  for (const field of CARRIED_FIELDS) {
    const name = HEADERS[field];
    given[field] = oneOfMany(field, values.get(name) ?? [], readerOf(field), name, tell);
  }
  return checkCarried(given, nameOf, tell);
}

/** The wanted headers of a request, each with all its values. */
function valuesOf(headers: unknown): ReadonlyMap<string, readonly unknown[]> {
  const wanted = new Map<string, unknown[]>();
  for (const field of CARRIED_FIELDS) wanted.set(HEADERS[field], []);
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
    if (Array.isArray(value)) values.push(...value);
    else values.push(value);
  }
  return wanted;
}

const asItIs: ReadText = (text) => text;

function readerOf(field: CarriedField): ReadText {
  return field === "traceparent" || field === "tracestate" ? asItIs : decodeText;
}
