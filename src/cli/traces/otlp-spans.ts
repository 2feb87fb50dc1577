import type { FinishedSpan, SpanAttributes, SpanValue } from "../../bridge/door.ts";
import type { Instant } from "../../events/door.ts";

/** Most bytes of a line. The collector writes batches of 8,192 or more spans into one line. */
export const MAX_REQUEST_BYTES = 256 * 1024 * 1024;

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Parses a line of OTLP/JSON. @returns the `ExportTraceServiceRequest`; `undefined` for anything else. */
export function traceRequestIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && Array.isArray(value.resourceSpans) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The spans of a request as JSON objects. */
export function* rawSpansOf(request: Fields): Generator<Fields> {
  for (const resource of listed(request, "resourceSpans")) {
    for (const scope of listed(resource, "scopeSpans")) yield* listed(scope, "spans");
  }
}

/** Most levels of lists and objects in an attribute. */
export const DEEPEST_ATTRIBUTE = 2000;

/**
 * Reads a span of a request. @returns `undefined` if an ID or time is missing or invalid.
 *
 * @throws TypeError if an attribute has more than 2,000 levels.
 */
export function readSpan(span: Fields): FinishedSpan | undefined {
  const traceId = hex(span.traceId, 32);
  const spanId = hex(span.spanId, 16);
  const start = timeIn(span.startTimeUnixNano);
  const end = timeIn(span.endTimeUnixNano);
  if (traceId === undefined || spanId === undefined) return undefined;
  if (start === undefined || end === undefined) return undefined;
  const status = isFields(span.status) ? span.status : {};
  return {
    traceId,
    spanId,
    parentSpanId: hex(span.parentSpanId, 16),
    name: textIn(span.name) ?? "",
    start,
    end,
    failed: status.code === 2 || status.code === "STATUS_CODE_ERROR",
    message: textIn(status.message),
    attributes: attributesOf(span),
    events: listed(span, "events").map((event) => ({
      name: textIn(event.name) ?? "",
      time: timeIn(event.timeUnixNano) ?? start,
      attributes: attributesOf(event),
    })),
    links: listed(span, "links").flatMap((link) => {
      const linked = { traceId: hex(link.traceId, 32), spanId: hex(link.spanId, 16) };
      if (linked.traceId === undefined || linked.spanId === undefined) return [];
      return [{ traceId: linked.traceId, spanId: linked.spanId, attributes: attributesOf(link) }];
    }),
  };
}

/**
 * The attributes of a span, event or link. An integer may be a number or text. Above 2^53 it becomes text.
 *
 * @param readValue reads a value. Default: also lists, and objects as JSON text.
 * @throws TypeError if an attribute has more than 2,000 levels.
 */
export function attributesOf(
  holder: Fields,
  readValue: (value: Fields) => SpanValue | undefined = valueIn,
): SpanAttributes {
  const attributes: Record<string, SpanValue> = {};
  for (const { key, value } of listed(holder, "attributes")) {
    const read = isFields(value) ? readValue(value) : undefined;
    // An assignment would not work for the name "__proto__".
    if (typeof key === "string" && read !== undefined) {
      Object.defineProperty(attributes, key, { value: read, enumerable: true, configurable: true });
    }
  }
  return attributes;
}

function valueIn(value: Fields): SpanValue | undefined {
  const { arrayValue, kvlistValue } = value;
  const plain = plainIn(value);
  if (plain !== undefined) return plain;
  if (isFields(arrayValue))
    return listed(arrayValue, "values").map((each) => plainIn(each) ?? nestedText(each));
  return kvlistValue === undefined ? undefined : nestedText(value);
}

function nestedText(value: Fields): string {
  // JSON.stringify would overflow the stack, and so would JSON.parse later.
  if (isTooDeep(value)) {
    throw new TypeError(`an attribute of more than ${DEEPEST_ATTRIBUTE} levels`);
  }
  return JSON.stringify(jsonOf(value));
}

/** A value in plain JSON, without the names of its types. */
function jsonOf(value: Fields): unknown {
  const { arrayValue, kvlistValue } = value;
  if (isFields(arrayValue)) return listed(arrayValue, "values").map(jsonOf);
  if (!isFields(kvlistValue)) return plainIn(value) ?? null;
  const entries = listed(kvlistValue, "values").map(({ key, value: each }) => [
    String(key),
    isFields(each) ? jsonOf(each) : null,
  ]);
  return Object.fromEntries(entries);
}

/** Whether a value has more levels than {@link DEEPEST_ATTRIBUTE}. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST_ATTRIBUTE) return true;
    level = level.filter(isObject).flatMap((each) => Object.values(each));
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Reads a value; `undefined` for a list or an object. */
export function plainIn(value: Fields): string | number | boolean | undefined {
  const { boolValue, bytesValue, doubleValue, intValue, stringValue } = value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (typeof intValue === "number" || typeof intValue === "string") {
    return Number.isSafeInteger(Number(intValue)) ? Number(intValue) : String(intValue);
  }
  // OTLP/JSON has NaN and Infinity as text.
  if (typeof doubleValue === "number" || typeof doubleValue === "string") return doubleValue;
  return textIn(bytesValue);
}

function timeIn(nanos: unknown): Instant | undefined {
  if (typeof nanos !== "string" && typeof nanos !== "number") return undefined;
  if (!/^\d{1,20}$/.test(String(nanos))) return undefined;
  const time = BigInt(nanos);
  return [Number(time / 1_000_000_000n), Number(time % 1_000_000_000n)];
}

/** An ID in lower case; `undefined` if it is invalid or all zeros, which OTLP uses for no ID. */
function hex(id: unknown, digits: number): string | undefined {
  if (typeof id !== "string" || id.length !== digits || !/^[\da-f]+$/i.test(id)) return undefined;
  return /^0+$/.test(id) ? undefined : id.toLowerCase();
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The objects of the list in a field; empty if the field is not a list. */
export function listed(value: unknown, name: string): Fields[] {
  const list = isFields(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** Whether a JSON value is an object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
