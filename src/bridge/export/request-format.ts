import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { Protocol } from "../setup/exporter-choice.ts";
import { Chunk } from "./chunk.ts";

/** How requests are written. */
export interface RequestFormat {
  readonly contentType: string;
  /**
   * Spans as one `ExportTraceServiceRequest`; a promise only where a resource is still looking for its
   * attributes.
   *
   * @throws where no request can be made of them.
   */
  encode(spans: readonly ReadableSpan[]): Uint8Array | Promise<Uint8Array>;
}

export function formatOf(protocol: Protocol): RequestFormat {
  return protocol === "http/json" ? JSON_FORMAT : protobufFormat();
}

const JSON_FORMAT: RequestFormat = {
  contentType: "application/json",
  encode: (spans) => Buffer.from(encodeTraceRequest(spans), "utf8"),
};

function protobufFormat(): RequestFormat {
  // Kept from request to request: its room has grown to what they take.
  let chunk = new Chunk();
  return {
    contentType: "application/x-protobuf",
    encode: (spans) => {
      try {
        for (const span of spans) chunk.add(span, Number.POSITIVE_INFINITY);
        return chunk.seal(0).bytes;
      } catch (error) {
        // The spans before the one that can't be read are in it.
        chunk = new Chunk();
        throw error;
      }
    },
  };
}

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
