import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Protocol } from "../setup/exporter-choice.ts";
import { Chunk } from "./chunk.ts";
import { halvesOf } from "./halves.ts";
import { attributesOf } from "./pending-attributes.ts";
import { encodeJson } from "./request-format.ts";
import { roughSpanBytes } from "./rough-bytes.ts";
import { requestOf, type SpanRequest } from "./span-sender.ts";

/** Collects spans for one request. */
export interface SpanBatch {
  readonly spans: number;
  /** Bytes of its spans: an upper bound in protobuf, an estimate in JSON. */
  readonly size: number;
  /**
   * @param most limit of the batch with the span, in bytes.
   * @returns false, without adding the span, if it would exceed the limit.
   * @throws if the span cannot be read.
   */
  add(span: ReadableSpan, most: number): boolean;
  /**
   * Removes all spans, and returns their request.
   *
   * @param timeoutMs time limit for pending attributes of a resource.
   */
  take(timeoutMs: number): SpanRequest;
}

export function batchOf(protocol: Protocol): SpanBatch {
  return protocol === "http/json" ? new JsonBatch() : new ProtobufBatch();
}

/** Encodes each span when it is added. */
class ProtobufBatch implements SpanBatch {
  readonly #chunk = new Chunk();

  get spans(): number {
    return this.#chunk.spans;
  }

  get size(): number {
    return this.#chunk.size;
  }

  add(span: ReadableSpan, most: number): boolean {
    return this.#chunk.add(span, most);
  }

  take(timeoutMs: number): SpanRequest {
    const { bytes, size, spans } = this.#chunk.seal(timeoutMs);
    return encodedRequest(spans, size, bytes);
  }
}

function encodedRequest(
  spans: number,
  size: number,
  bytes: Uint8Array | Promise<Uint8Array>,
): SpanRequest {
  const encode = () => bytes;
  if (!(bytes instanceof Uint8Array)) return { spans, size, encode };
  const first = Math.ceil(spans / 2);
  const halves = () => {
    const [before, after] = halvesOf(bytes, spans);
    return [
      encodedRequest(first, before.length, before),
      encodedRequest(spans - first, after.length, after),
    ] as const;
  };
  return { spans, size, encode, halves };
}

/** Encodes its spans when they are sent, by OpenTelemetry's serializer. */
class JsonBatch implements SpanBatch {
  #spans: ReadableSpan[] = [];
  size = 0;

  get spans(): number {
    return this.#spans.length;
  }

  add(span: ReadableSpan, most: number): boolean {
    const bytes = roughSpanBytes(span);
    if (this.size + bytes > most) return false;
    this.#spans.push(span);
    this.size += bytes;
    return true;
  }

  take(timeoutMs: number): SpanRequest {
    const request = requestOf(this.#spans, (spans) => encodedWithin(spans, timeoutMs), this.size);
    this.#spans = [];
    this.size = 0;
    return request;
  }
}

function encodedWithin(
  spans: readonly ReadableSpan[],
  timeoutMs: number,
): Uint8Array | Promise<Uint8Array> {
  const resources = new Set(spans.map(({ resource }) => resource));
  const pending = [...resources].filter((resource) => resource.asyncAttributesPending);
  if (pending.length === 0) return encodeJson(spans);
  return attributesOf(pending, timeoutMs).then(() => encodeJson(spans));
}
