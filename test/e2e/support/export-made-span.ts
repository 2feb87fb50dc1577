import type { HrTime, SpanContext } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { WholeAttributes, WholeSpan, WholeValue } from "./export-whole-span.ts";

const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** A span as it was made, in the words of OTLP; read from the SDK's span, without any encoder. */
export function madeSpan(span: ReadableSpan): WholeSpan {
  const own = span.spanContext();
  const { instrumentationScope: scope, parentSpanContext: parent, resource } = span;
  return {
    traceId: own.traceId,
    spanId: own.spanId,
    traceState: own.traceState?.serialize() ?? "",
    parentSpanId: parent?.spanId ?? "",
    name: wellFormed(span.name),
    kind: span.kind + 1,
    start: nanoseconds(span.startTime),
    end: nanoseconds(span.endTime),
    attributes: attributesOf(span.attributes),
    dropped: {
      attributes: span.droppedAttributesCount,
      events: span.droppedEventsCount,
      links: span.droppedLinksCount,
    },
    events: span.events.map((event) => ({
      name: wellFormed(event.name),
      time: nanoseconds(event.time),
      attributes: attributesOf(event.attributes ?? {}),
      droppedAttributes: event.droppedAttributesCount ?? 0,
    })),
    links: span.links.map(({ attributes, context, droppedAttributesCount }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      traceState: context.traceState?.serialize() ?? "",
      attributes: attributesOf(attributes ?? {}),
      droppedAttributes: droppedAttributesCount ?? 0,
      flags: flagsOf(context, context.isRemote),
    })),
    status: { code: span.status.code, message: wellFormed(span.status.message ?? "") },
    flags: flagsOf(own, parent?.isRemote),
    scope: {
      name: wellFormed(scope.name),
      version: scope.version ?? "",
      schema: wellFormed(scope.schemaUrl ?? ""),
    },
    resource: {
      attributes: attributesOf(resource.attributes),
      schema: wellFormed(resource.schemaUrl ?? ""),
    },
  };
}

function flagsOf({ traceFlags }: SpanContext, isRemote: boolean | undefined): number {
  return traceFlags + HAS_IS_REMOTE + (isRemote === true ? IS_REMOTE : 0);
}

function nanoseconds([seconds, nanos]: HrTime): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
}

function attributesOf(attributes: object): WholeAttributes {
  return Object.entries(attributes).map(([key, value]) => [wellFormed(key), wholeValue(value)]);
}

function wholeValue(value: unknown): WholeValue {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return numberOf(value);
  if (typeof value !== "object" || value === null) return null;
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("hex") };
  if (Array.isArray(value)) return { list: value.map(wholeValue) };
  return { map: attributesOf(value) };
}

function numberOf(value: number): WholeValue {
  const whole = Number.isInteger(value) ? BigInt(value) : undefined;
  if (whole === undefined || BigInt.asIntN(64, whole) !== whole) return { double: value };
  return { int: whole };
}

/** With U+FFFD for half of a surrogate pair, which UTF-8 can't have. */
function wellFormed(text: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}
