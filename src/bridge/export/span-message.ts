import type { HrTime } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { ByteWriter } from "./byte-writer.ts";
import { writeKeyValues } from "./key-values.ts";

type Event = ReadableSpan["events"][number];
type Link = ReadableSpan["links"][number];

/** Expected length of a message with a length of two bytes: 128 bytes to 16 KB. */
const USUAL = 0x80;
const SHORT = 1;

/** Bits of OTLP's flags in addition to the W3C ones. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/**
 * Writes a span as an entry of OTLP's `ScopeSpans.spans`, with the same bytes as OpenTelemetry's serializer.
 */
export function writeSpan(out: ByteWriter, span: ReadableSpan): void {
  const own = span.spanContext();
  const { parentSpanContext: parent } = span;
  out.byte(0x12); // ScopeSpans.spans
  const start = out.open(USUAL);
  out.byte(0x0a); // trace_id
  out.id(own.traceId);
  out.byte(0x12); // span_id
  out.id(own.spanId);
  writeOptional(out, 0x1a, own.traceState?.serialize()); // trace_state
  if (parent?.spanId) {
    out.byte(0x22); // parent_span_id
    out.id(parent.spanId);
  }
  out.byte(0x2a); // name
  out.text(span.name);
  out.byte(0x30); // kind: OTLP has 0 for none
  out.varint(span.kind + 1);
  out.byte(0x39); // start_time_unix_nano
  writeTime(out, span.startTime);
  out.byte(0x41); // end_time_unix_nano
  writeTime(out, span.endTime);
  writeKeyValues(out, 0x4a, span.attributes);
  out.byte(0x50); // dropped_attributes_count
  out.varint(span.droppedAttributesCount);
  for (const event of span.events) writeEvent(out, event);
  out.byte(0x60); // dropped_events_count
  out.varint(span.droppedEventsCount);
  for (const link of span.links) writeLink(out, link);
  out.byte(0x70); // dropped_links_count
  out.varint(span.droppedLinksCount);
  writeStatus(out, span.status);
  writeFlags(out, 0x85, own.traceFlags, parent?.isRemote);
  out.close(start, USUAL);
}

function writeEvent(out: ByteWriter, event: Event): void {
  out.byte(0x5a); // Span.events
  const start = out.open(SHORT);
  out.byte(0x09); // time_unix_nano
  writeTime(out, event.time);
  out.byte(0x12); // name
  out.text(event.name);
  if (event.attributes !== undefined) writeKeyValues(out, 0x1a, event.attributes);
  out.byte(0x20); // dropped_attributes_count
  out.varint(event.droppedAttributesCount ?? 0);
  out.close(start, SHORT);
}

function writeLink(out: ByteWriter, link: Link): void {
  const { context } = link;
  out.byte(0x6a); // Span.links
  const start = out.open(SHORT);
  out.byte(0x0a); // trace_id
  out.id(context.traceId);
  out.byte(0x12); // span_id
  out.id(context.spanId);
  writeOptional(out, 0x1a, context.traceState?.serialize()); // trace_state
  if (link.attributes !== undefined) writeKeyValues(out, 0x22, link.attributes);
  out.byte(0x28); // dropped_attributes_count
  out.varint(link.droppedAttributesCount ?? 0);
  writeFlags(out, 0x35, context.traceFlags, context.isRemote);
  out.close(start, SHORT);
}

function writeStatus(out: ByteWriter, status: ReadableSpan["status"]): void {
  out.byte(0x7a); // Span.status
  const start = out.open(SHORT);
  writeOptional(out, 0x12, status.message); // message
  out.byte(0x18); // code
  out.varint(status.code);
  out.close(start, SHORT);
}

/** Trace flags, and whether the parent or the linked span is remote. */
function writeFlags(
  out: ByteWriter,
  tag: number,
  traceFlags: number,
  isRemote: boolean | undefined,
): void {
  out.varint(tag);
  out.fixed32((traceFlags & 0xff) | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0));
}

/** A text, omitted if it is empty. */
export function writeOptional(out: ByteWriter, tag: number, text: string | undefined): void {
  if (text === undefined || text === "") return;
  out.byte(tag);
  out.text(text);
}

/**
 * `[s, ns]` as 64-bit nanoseconds. Seconds are split into two halves, so that every product is below 2^53 and
 * exact.
 */
function writeTime(out: ByteWriter, time: HrTime): void {
  const [seconds, nanos] = time;
  const lower = (seconds & 0xffff) * 1e9;
  const upper = ((seconds / 0x10000) >>> 0) * 1e9;
  const low = (lower >>> 0) + (((upper & 0xffff) * 0x10000) >>> 0) + nanos;
  const carried = Math.floor(low / 2 ** 32);
  const high = Math.floor(lower / 2 ** 32) + ((upper / 0x10000) >>> 0) + carried;
  out.fixed32(low >>> 0);
  out.fixed32(high >>> 0);
}
