import {
  type IExportTraceServiceResponse,
  JsonTraceSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { Chunk } from "../export/chunk.ts";
import { isJson } from "../export/partial-success.ts";
import type { Protocol } from "../setup/exporter-choice.ts";
import { encodeTraceRequest } from "./otlp-json.ts";

/** What a receiver says of a request that it took. */
export type TraceResponse = Partial<IExportTraceServiceResponse>;

/** How requests are written, and the answers to them read. */
export interface OtlpFormat {
  readonly contentType: string;
  /**
   * Spans as one `ExportTraceServiceRequest`; a promise only where a resource is still looking for its
   * attributes.
   *
   * @throws where no request can be made of them.
   */
  encode(spans: readonly ReadableSpan[]): Uint8Array | Promise<Uint8Array>;
  /** @throws where the bytes are no answer. */
  decode(response: Uint8Array): TraceResponse;
}

export function formatOf(protocol: Protocol): OtlpFormat {
  return protocol === "http/json" ? JSON_FORMAT : protobufFormat();
}

const JSON_FORMAT: OtlpFormat = {
  contentType: "application/json",
  encode: (spans) => Buffer.from(encodeTraceRequest(spans), "utf8"),
  decode: (response) => JsonTraceSerializer.deserializeResponse(response),
};

function protobufFormat(): OtlpFormat {
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
    decode: (response) =>
      (isJson(response) ? JsonTraceSerializer : ProtobufTraceSerializer).deserializeResponse(
        response,
      ),
  };
}
