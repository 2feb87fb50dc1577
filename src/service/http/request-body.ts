import type { IncomingMessage } from "node:http";
import { GZIP_MAGIC, textBytes } from "../../replay/door.ts";
import { gzipText } from "./gzip-text.ts";
import type { HeldBytes } from "./held-body.ts";
import { Refusal, SenderGone } from "./refusal.ts";

interface RequestBodyOptions {
  /** Longest body, in bytes as they come. */
  readonly maxBytes: number;
  /** Longest pause between two pieces, in ms. */
  readonly idleMs: number;
  /** Longest time for all of it, in ms. */
  readonly totalMs: number;
  /** Ends the reading with its reason. */
  readonly stop: AbortSignal;
  /** Ends the reading of a body that is not all there, with its reason. */
  readonly broken: AbortSignal;
}

/**
 * The body of a request, piece by piece as it is asked for: while nobody asks, the sender is held
 * back. Time in which nobody asks does not count as a pause of the sender's.
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

  /** Bytes that came. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @throws Refusal when it is too long, too slow or stopped; SenderGone when it was cut off.
   */
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

  /** Nothing more is read; who waits for a piece gets the end. */
  close(): void {
    this.#done = true;
    for (const event of ["readable", "end", "error", "close"]) {
      this.#request.off(event, this.#rouse);
    }
    // An error after this is the sender's leaving: without a listener it would end the process.
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
    // What came before the end of the reading is read first; then it ends here.
    if (this.#done || !late) return;
    const expected =
      left <= idleMs
        ? `the whole body within ${totalMs / 1000} s`
        : `the next piece of the body within ${idleMs / 1000} s`;
    throw new Refusal("slow", `expected ${expected}`);
  }

  /** @throws the reason where the reading is to end, though more of the body may have come. */
  throwIfStopped(): void {
    const { stop } = this.#options;
    if (stop.aborted) throw reasonOf(stop);
  }

  #throwIfOver(): void {
    this.throwIfStopped();
    const { broken } = this.#options;
    // A body that is all there is not broken: what was wrong came behind it.
    if (broken.aborted && !this.#request.complete) throw reasonOf(broken);
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Refusal ? reason : new SenderGone();
}

export function tooLong(maxBytes: number): Refusal {
  return new Refusal("body_size", `expected a body of at most ${maxBytes} bytes`);
}

/** How a body may come. Plain bytes that are gzip by their first two are taken as such too. */
export type BodyEncoding = "gzip" | "identity";

interface BodyTextOptions {
  readonly encoding: BodyEncoding;
  /** Longest text. */
  readonly maxBytes: number;
  /** Where compressed bytes wait for their checksum. */
  readonly held: HeldBytes;
  /** Told of the bytes of text as they come. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * The text of a body: plain bytes piece by piece as they come, gzip as {@link gzipText} does.
 *
 * @throws Refusal when the text is longer than `maxBytes`, or the gzip data is none, damaged, or has no
 * room to wait; what the source throws.
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
