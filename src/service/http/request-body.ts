import type { IncomingMessage } from "node:http";
import { GZIP_MAGIC, textBytes } from "../../replay/door.ts";
import { gzipText } from "./gzip-text.ts";
import type { HeldBytes } from "./held-body.ts";
import { Refusal, SenderGone } from "./refusal.ts";

interface RequestBodyOptions {
  /** Longest body, in received bytes. */
  readonly maxBytes: number;
  /** Longest pause between two pieces, in ms. */
  readonly idleMs: number;
  /** Time limit for the whole body, in ms. */
  readonly totalMs: number;
  /** Stops the reading, with its reason. */
  readonly stop: AbortSignal;
  /** Stops the reading of an incomplete body, with its reason. */
  readonly broken: AbortSignal;
}

/**
 * The body of a request, read on demand: the sender is slowed down while no piece is requested. Such time does not
 * count as a pause of the sender.
 */
export class RequestBody {
  readonly #request: IncomingMessage;
  readonly #options: RequestBodyOptions;
  readonly #endMs: number;
  #bytes = 0;
  #done = false;
  #wake: (() => void) | undefined;

  constructor(request: IncomingMessage, options: RequestBodyOptions) {
    this.#request = request;
    this.#options = options;
    this.#endMs = performance.now() + options.totalMs;
    for (const event of ["readable", "end", "error", "close"]) request.on(event, this.#rouse);
    for (const signal of [options.stop, options.broken]) {
      signal.addEventListener("abort", this.#rouse);
    }
  }

  /** Number of received bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Refusal if it is too long, too slow or stopped; SenderGone if the connection was cut off. */
  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    while (!this.#done) {
      const chunk: unknown = this.#request.read();
      if (chunk instanceof Buffer) {
        this.#bytes += chunk.length;
        if (this.#bytes > this.#options.maxBytes) throw tooLong(this.#options.maxBytes);
        yield chunk;
        continue;
      }
      const { readableEnded, complete, destroyed, errored } = this.#request;
      if (readableEnded && complete) return;
      if (destroyed || errored !== null) throw new SenderGone();
      await this.#more();
    }
  }

  /** Stops reading. A pending read ends. */
  close(): void {
    this.#done = true;
    for (const event of ["readable", "end", "error", "close"]) {
      this.#request.off(event, this.#rouse);
    }
    // Later errors only mean that the sender left. Without a listener they would end the process.
    this.#request.on("error", () => {});
    for (const signal of [this.#options.stop, this.#options.broken]) {
      signal.removeEventListener("abort", this.#rouse);
    }
    this.#wake?.();
  }

  readonly #rouse = () => this.#wake?.();

  async #more(): Promise<void> {
    const { idleMs, totalMs } = this.#options;
    this.#throwIfOver();
    const left = this.#endMs - performance.now();
    const waitMs = Math.max(0, Math.min(idleMs, left));
    let late = false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        late = true;
        resolve();
      }, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    // Bytes that came in time are read first.
    if (this.#done || !late) return;
    const expected =
      left <= idleMs
        ? `the whole body within ${totalMs / 1000} s`
        : `the next piece of the body within ${idleMs / 1000} s`;
    throw new Refusal("slow", `expected ${expected}`);
  }

  /** @throws the reason if the reading must stop, even if more bytes are available. */
  throwIfStopped(): void {
    const { stop } = this.#options;
    if (stop.aborted) throw reasonOf(stop);
  }

  #throwIfOver(): void {
    this.throwIfStopped();
    const { broken } = this.#options;
    // A complete body is fine: the problem came after it.
    if (broken.aborted && !this.#request.complete) throw reasonOf(broken);
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Refusal ? reason : new SenderGone();
}

export function tooLong(maxBytes: number): Refusal {
  return new Refusal("body_size", `expected a body of at most ${maxBytes} bytes`);
}

/** Encoding of a body. Plain bytes that start as gzip does are also decompressed. */
export type BodyEncoding = "gzip" | "identity";

interface BodyTextOptions {
  readonly encoding: BodyEncoding;
  /** Maximum length of the text. */
  readonly maxBytes: number;
  /** Memory for compressed bytes that wait for their checksum. */
  readonly held: HeldBytes;
  /** Called with the number of bytes of each piece of text. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * The text of a body: plain text piece by piece as it comes, gzip as {@link gzipText} does.
 *
 * @throws Refusal if the text is longer than `maxBytes`, or the gzip data is invalid, damaged, or has no room to wait;
 *   the errors of the source.
 */
export async function* bodyText(
  source: AsyncIterable<Buffer>,
  { encoding, maxBytes, held, onBytes }: BodyTextOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const sent = encoding === "gzip" ? surelyGzip(source) : source;
  let bytes = 0;
  for await (const chunk of textBytes(sent, (gzip) => gzipText(gzip, maxBytes, held))) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
    onBytes(chunk.length);
    yield chunk;
  }
}

async function* surelyGzip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let seen = 0;
  for await (const chunk of source) {
    // The first bytes may come one by one.
    for (const byte of chunk.subarray(0, GZIP_MAGIC.length - seen)) {
      if (byte !== GZIP_MAGIC[seen]) throw noGzip();
      seen += 1;
    }
    yield chunk;
  }
  if (seen < GZIP_MAGIC.length) throw noGzip();
}

function noGzip(): Refusal {
  return new Refusal("encoding", "expected gzip data, as Content-Encoding says");
}
