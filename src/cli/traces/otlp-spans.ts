import type { FinishedSpan, SpanAttributes, SpanValue } from "../../bridge/door.ts";
import type { Instant } from "../../events/door.ts";

/** The collector writes a batch a line, of 8,192 spans or more, with all that stands on them. */
export const MAX_REQUEST_BYTES = 256 * 1024 * 1024;

/** Fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The `ExportTraceServiceRequest` that a line of OTLP/JSON holds, also one without spans; `undefined` where it holds none. */
export function traceRequestIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && Array.isArray(value.resourceSpans) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The spans of a request, as they are written. */
export function* rawSpansOf(request: Fields): Generator<Fields> {
  for (const resource of listed(request, "resourceSpans")) {
    for (const scope of listed(resource, "scopeSpans")) yield* listed(scope, "spans");
  }
}

/** Levels of lists and objects inside an attribute that are read, in JSON. */
export const DEEPEST_ATTRIBUTE = 2000;

/**
 * A span of a request; `undefined` where it lacks its ids or times.
 *
 * @throws TypeError for a span that nobody means so, such as one with an attribute that nests deeper than 2,000 levels.
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
 * The attributes of a span, event or link. Integers may be written either way; beyond 2^53 they are text.
 *
 * @param readValue how a value is read. Default: lists and objects too, in JSON.
 * @throws TypeError for one that nests deeper than 2,000 levels.
 */
export function attributesOf(
  holder: Fields,
  readValue: (value: Fields) => SpanValue | undefined = valueIn,
): SpanAttributes {
  const attributes: Record<string, SpanValue> = {};
  for (const { key, value } of listed(holder, "attributes")) {
    const read = isFields(value) ? readValue(value) : undefined;
    // By definition, since "__proto__" may be a name as well.
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
  return kvlistValue === undefined ? undefined : nestedText(kvlistValue);
}

function nestedText(value: unknown): string {
  // Writing it would fill the stack, and so would whoever reads it.
  if (isDeeper(value, DEEPEST_ATTRIBUTE)) {
    throw new TypeError(`an attribute of more than ${DEEPEST_ATTRIBUTE} levels`);
  }
  return JSON.stringify(value);
}

function isDeeper(value: unknown, most: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.filter(isObject).flatMap((each) => Object.values(each));
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A value that is no list and no object. */
export function plainIn(value: Fields): string | number | boolean | undefined {
  const { boolValue, bytesValue, doubleValue, intValue, stringValue } = value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (typeof intValue === "number" || typeof intValue === "string") {
    return Number.isSafeInteger(Number(intValue)) ? Number(intValue) : String(intValue);
  }
  // "NaN" and "Infinity" are written as text.
  if (typeof doubleValue === "number" || typeof doubleValue === "string") return doubleValue;
  return textIn(bytesValue);
}

function timeIn(nanos: unknown): Instant | undefined {
  if (typeof nanos !== "string" && typeof nanos !== "number") return undefined;
  if (!/^\d{1,20}$/.test(String(nanos))) return undefined;
  const time = BigInt(nanos);
  return [Number(time / 1_000_000_000n), Number(time % 1_000_000_000n)];
}

/** An id in lower case; `undefined` for another text, and for zeros, which stand for none. */
function hex(id: unknown, digits: number): string | undefined {
  if (typeof id !== "string" || id.length !== digits || !/^[\da-f]+$/i.test(id)) return undefined;
  return /^0+$/.test(id) ? undefined : id.toLowerCase();
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The objects of a list in a field; none where it is something else. */
export function listed(value: unknown, name: string): Fields[] {
  const list = isFields(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** Whether a JSON value is an object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
