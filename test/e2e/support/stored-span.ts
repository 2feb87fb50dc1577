import type { JsonValue } from "../../../src/entries/events.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import type { SpanNode } from "../../support/spans.ts";
import { field, list, optionalText, text } from "./json-shape.ts";

export interface StoredLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Readonly<Record<string, JsonValue>>;
}

/** A span as Jaeger gives it back in OTLP/JSON. */
export interface StoredSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly status: SpanNode["status"];
  readonly description: string | undefined;
  readonly attributes: Readonly<Record<string, JsonValue>>;
  readonly events: readonly string[];
  readonly links: readonly StoredLink[];
  readonly resource: Readonly<Record<string, JsonValue>>;
}

const STATUS: Readonly<Record<string, SpanNode["status"]>> = { 0: "unset", 1: "ok", 2: "error" };

/** All spans of an answer of `/api/v3/traces`. */
export function storedSpans(answer: unknown): StoredSpan[] {
  return list(field(answer, "result"), "resourceSpans").flatMap((resourceSpans) => {
    const resource = attributesOf(field(resourceSpans, "resource"));
    return list(resourceSpans, "scopeSpans").flatMap((scopeSpans) =>
      list(scopeSpans, "spans").map((span) => storedSpan(span, resource)),
    );
  });
}

function storedSpan(span: unknown, resource: StoredSpan["resource"]): StoredSpan {
  const status = field(span, "status") ?? {};
  const code = STATUS[String(field(status, "code") ?? 0)];
  if (code === undefined) throw new TypeError(`unknown status ${JSON.stringify(status)}`);
  return {
    traceId: text(span, "traceId"),
    spanId: text(span, "spanId"),
    parentSpanId: optionalText(span, "parentSpanId"),
    name: text(span, "name"),
    startTimeUnixNano: BigInt(text(span, "startTimeUnixNano")),
    endTimeUnixNano: BigInt(text(span, "endTimeUnixNano")),
    status: code,
    description: optionalText(status, "message"),
    attributes: attributesOf(span),
    events: list(span, "events").map((event) => text(event, "name")),
    links: list(span, "links").map((link) => ({
      traceId: text(link, "traceId"),
      spanId: text(link, "spanId"),
      attributes: attributesOf(link),
    })),
    resource,
  };
}

function attributesOf(holder: unknown): Record<string, JsonValue> {
  const pairs = list(holder, "attributes").map((pair): [string, JsonValue] => [
    text(pair, "key"),
    attributeValue(field(pair, "value")),
  ]);
  return Object.fromEntries(pairs);
}

/** OTLP/JSON writes whole numbers as text. */
function attributeValue(value: unknown): JsonValue {
  const string = field(value, "stringValue");
  if (typeof string === "string") return string;
  const bool = field(value, "boolValue");
  if (typeof bool === "boolean") return bool;
  const double = field(value, "doubleValue");
  if (typeof double === "number") return double;
  const whole = field(value, "intValue");
  if (typeof whole === "string" || typeof whole === "number") return Number(whole);
  const array = field(value, "arrayValue");
  if (array !== undefined) return list(array, "values").map(attributeValue);
  throw new TypeError(`unknown value ${JSON.stringify(value)}`);
}

/** The spans as trees; roots and children by their start, and where that is equal by span id. */
export function treesOf(spans: readonly StoredSpan[]): SpanNode[] {
  const sorted = [...spans].sort((a, b) =>
    a.startTimeUnixNano === b.startTimeUnixNano
      ? Number(a.spanId > b.spanId) - Number(a.spanId < b.spanId)
      : a.startTimeUnixNano < b.startTimeUnixNano
        ? -1
        : 1,
  );
  const nodes = sorted.map((span) => nodeOf(span));
  const byId = new Map(nodes.map((node) => [`${node.trace}/${node.span_id}`, node]));
  if (byId.size < nodes.length) throw new Error("a span is there twice");
  const roots: SpanNode[] = [];
  for (const node of nodes) {
    const parent = byId.get(`${node.trace}/${node.parent}`);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

function nodeOf(span: StoredSpan): SpanNode {
  return {
    span: span.name,
    run: span.attributes["entelix.run_id"],
    trace: span.traceId,
    span_id: span.spanId,
    parent: span.parentSpanId,
    status: span.status,
    description: span.description,
    start: rfc3339(span.startTimeUnixNano),
    end: rfc3339(span.endTimeUnixNano),
    attributes: { ...span.attributes },
    links: span.links.map((link) => link.spanId),
    linkKinds: span.links.map((link) => link.attributes["entelix.link.kind"]),
    events: [...span.events],
    children: [],
  };
}

function rfc3339(nanoseconds: bigint): string {
  const second = 1_000_000_000n;
  return formatRfc3339([Number(nanoseconds / second), Number(nanoseconds % second)]);
}
