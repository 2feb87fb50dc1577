import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Protocol } from "../setup/exporter-choice.ts";
import { Chunk } from "./chunk.ts";

/** The encoding of requests. */
export interface RequestFormat {
  readonly contentType: string;
  /**
   * Spans as one `ExportTraceServiceRequest`. A promise only if attributes of a resource are pending.
   *
   * @throws if they cannot be encoded.
   */
  encode(spans: readonly ReadableSpan[]): Uint8Array | Promise<Uint8Array>;
}

export const CONTENT_TYPES = {
  "http/json": "application/json",
  "http/protobuf": "application/x-protobuf",
} as const satisfies Record<Protocol, string>;

export function formatOf(protocol: Protocol): RequestFormat {
  return protocol === "http/json" ? JSON_FORMAT : protobufFormat();
}

const JSON_FORMAT: RequestFormat = {
  contentType: CONTENT_TYPES["http/json"],
  encode: encodeJson,
};

/** As {@link encodeTraceRequest}, in UTF-8. */
export function encodeJson(spans: readonly ReadableSpan[]): Uint8Array {
  return Buffer.from(encodeTraceRequest(spans), "utf8");
}

function protobufFormat(): RequestFormat {
  // Reused, so that its buffer has grown to the usual size.
  let chunk = new Chunk();
  return {
    contentType: CONTENT_TYPES["http/protobuf"],
    encode: (spans) => {
      try {
        for (const span of spans) chunk.add(span, Number.POSITIVE_INFINITY);
        return chunk.seal(0).bytes;
      } catch (error) {
        // Drops the spans before the one that cannot be read.
        chunk = new Chunk();
        throw error;
      }
    },
  };
}

/**
 * A special key. JSON escapes quotes inside strings, so these characters can only be the key, and not part of an
 * attribute.
 */
const INT_VALUE = /"intValue":(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

const LARGEST = 2n ** 63n;

/**
 * Spans as one `ExportTraceServiceRequest` in OTLP/JSON, on one line.
 *
 * The stock serializer writes integers as JSON numbers, but the OTLP JSON mapping has 64-bit values as decimal
 * strings. A whole number beyond 64 bits becomes a `doubleValue`, since a receiver would reject the whole
 * request.
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
