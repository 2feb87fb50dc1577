import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";

/**
 * A key of our own making: in JSON text a quote inside a string is escaped, so these characters can
 * be nothing but the key, whatever the attributes hold.
 */
const INT_VALUE = /"intValue":(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

const LARGEST = 2n ** 63n;

/**
 * Spans as one `ExportTraceServiceRequest` in OTLP/JSON, on one line.
 *
 * The stock serializer writes integers as JSON numbers; the OTLP JSON mapping has 64-bit values as
 * decimal strings. A whole number that no 64-bit integer holds becomes a `doubleValue`: a receiver
 * would refuse the request, with all its spans.
 */
export function encodeTraceRequest(spans: readonly ReadableSpan[]): string {
  const bytes = JsonTraceSerializer.serializeRequest([...spans]);
  if (bytes === undefined) throw new Error("the spans could not be serialized");
  return Buffer.from(bytes).toString("utf8").replace(INT_VALUE, conforming);
}

function conforming(_: string, digits: string): string {
  const exact = BigInt(Number(digits));
  if (exact >= -LARGEST && exact < LARGEST) return `"intValue":"${exact}"`;
  return `"doubleValue":${digits}`;
}
