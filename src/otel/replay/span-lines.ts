import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { encodeTraceRequest } from "../export/request-format.ts";
import type { SpanTarget } from "./span-target.ts";

/** Writes spans as OTLP/JSON lines, one `ExportTraceServiceRequest` a line. */
export class SpanLines implements SpanTarget {
  /** Why nothing more can be written. */
  failure: Error | undefined;
  readonly #stream: Writable;
  readonly #end: boolean;

  /** @param end whether the stream is ended with the spans; the standard output is not. */
  constructor(stream: Writable, end: boolean) {
    this.#stream = stream;
    this.#end = end;
    stream.on("error", (error) => {
      this.failure = error;
    });
  }

  async write(spans: readonly ReadableSpan[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.#stream.write(`${encodeTraceRequest(spans)}\n`)) return;
    await once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (!this.#end) return;
    this.#stream.end();
    await finished(this.#stream);
  }
}
