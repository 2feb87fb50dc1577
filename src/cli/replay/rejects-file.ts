import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { RejectedLine } from "../../ingest/event-intake.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";

const LINE_FEED = 0x0a;

/** Copies rejected lines, byte for byte, so that they can be mended and replayed. */
export class RejectsFile {
  readonly #stream: Writable;
  #failure: Error | undefined;
  /** Whether what was written last ended with a line end. */
  #lineEnded = true;
  #inLine = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", (error) => {
      this.#failure = error;
    });
  }

  /** @throws CliError when the file can't be written. */
  async add({ bytes, last }: RejectedLine): Promise<void> {
    // The last line of a file may have no end; the first one of the next file must not join it.
    const apart = this.#inLine || this.#lineEnded ? bytes : Buffer.concat([NEW_LINE, bytes]);
    this.#inLine = !last;
    if (bytes.length > 0) this.#lineEnded = bytes.at(-1) === LINE_FEED;
    if (apart.length === 0) return;
    // A copy: the bytes are a view of what the reader may use again.
    const copy = Buffer.from(apart);
    await this.#guarded(async () => {
      if (!this.#stream.write(copy)) await once(this.#stream, "drain");
    });
  }

  /** @throws CliError when the file can't be written. */
  close(): Promise<void> {
    return this.#guarded(async () => {
      this.#stream.end();
      await finished(this.#stream);
    });
  }

  async #guarded(write: () => Promise<void>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await write();
    } catch (error) {
      throw new CliError(`--rejects: ${safe(messageOf(error))}`, undefined, { cause: error });
    }
  }
}

const NEW_LINE = Buffer.from([LINE_FEED]);
