import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { RejectedLine } from "../../ingest/event-intake.ts";

const LINE_FEED = 0x0a;

/** Copies rejected lines, byte for byte, so that they can be mended and replayed. */
export class RejectsFile {
  readonly #stream: Writable;
  #error: Error | undefined;
  /** Whether what was written last ended with a line end. */
  #lineEnded = true;
  #inLine = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", (error) => {
      this.#error = error;
    });
  }

  async add({ bytes, last }: RejectedLine): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    // The last line of a file may have no end; the first one of the next file must not join it.
    const apart = this.#inLine || this.#lineEnded ? bytes : Buffer.concat([NEW_LINE, bytes]);
    this.#inLine = !last;
    if (bytes.length > 0) this.#lineEnded = bytes.at(-1) === LINE_FEED;
    if (apart.length === 0) return;
    // A copy: the bytes are a view of what the reader may use again.
    if (!this.#stream.write(Buffer.from(apart))) await once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    this.#stream.end();
    await finished(this.#stream);
  }
}

const NEW_LINE = Buffer.from([LINE_FEED]);
