import type { IncomingMessage } from "node:http";
import { Refusal, SenderGone } from "./refusal.ts";

export interface RequestBodyOptions {
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
