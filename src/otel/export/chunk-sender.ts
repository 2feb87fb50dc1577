import { type Answer, StatusError } from "./answer.ts";
import type { SealedChunk } from "./chunk.ts";
import type { Post } from "./otlp-post.ts";
import { type Backoff, Pause } from "./pause.ts";
import type { SpanBooks } from "./span-books.ts";

export interface ChunkSenderOptions {
  readonly post: Post;
  readonly books: SpanBooks;
  /** Requests under way at once. */
  readonly requests: number;
  readonly backoff: Backoff;
}

/** A chunk with its place in the order. */
interface Job {
  readonly number: number;
  readonly chunk: SealedChunk;
  tried: boolean;
  /** Attempts that failed after another request had been confirmed since the one before. */
  passedOver: number;
  /** How many requests were confirmed at its last attempt that failed, or when it was first tried. */
  confirmedBefore: number;
}

/** So often others are taken in place of a chunk before that one is given up: it is about the chunk. */
export const PASSED_OVER = 50;

/**
 * Sends chunks in their order, a few requests at once, until each is confirmed or refused.
 *
 * After a failure that may pass it sends nothing for a while; the chunk goes back to its place
 * before all that have not been tried, with its bytes as they are.
 */
export class ChunkSender {
  readonly #post: Post;
  readonly #books: SpanBooks;
  readonly #requests: number;
  readonly #pause: Pause;
  /** Oldest first. */
  #waiting: Job[] = [];
  readonly #underWay = new Set<Job>();
  #waiters: { readonly last: number; readonly resolve: () => void }[] = [];
  #next = 0;
  #bytes = 0;
  #confirmed = 0;
  #failures = 0;
  #lastError: Error | undefined;
  #closed = false;

  constructor({ backoff, books, post, requests }: ChunkSenderOptions) {
    this.#post = post;
    this.#books = books;
    this.#requests = requests;
    this.#pause = new Pause(backoff, () => this.#sendReady());
  }

  /** Bytes of all chunks that are not settled, those under way too. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Chunks that lost spans. */
  get failures(): number {
    return this.#failures;
  }

  /** Of the last attempt that failed. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  add(chunk: SealedChunk): void {
    this.#bytes += chunk.size;
    const number = this.#next++;
    this.#waiting.push({ number, chunk, tried: false, passedOver: 0, confirmedBefore: 0 });
    if (this.#closed) this.giveUp(new Error("spans are sent no longer"));
    else this.#sendReady();
  }

  /** Somebody waits: a pause that the endpoint has not asked for ends. */
  hurry(): void {
    this.#pause.hurry();
  }

  /** Resolves when all chunks that were added so far are confirmed or lost. */
  whenSettled(): Promise<void> {
    const last = this.#next - 1;
    if (this.#oldest() > last) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ last, resolve }));
  }

  /**
   * Counts everything that is not settled as lost, and sends no more.
   *
   * @param error why, where no attempt has failed before.
   */
  giveUp(error: Error): void {
    this.#closed = true;
    this.#pause.stop();
    const left = [...this.#underWay, ...this.#waiting];
    this.#underWay.clear();
    this.#waiting = [];
    for (const job of left) {
      this.#leaveQueue(job);
      this.#lose(job, job.chunk.spans, this.#lastError ?? error);
    }
    this.#post.abort();
  }

  #sendReady(): void {
    while (!this.#pause.isOn && this.#underWay.size < this.#requests) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      this.#underWay.add(job);
      this.#leaveQueue(job);
      void this.#attempt(job);
    }
  }

  async #attempt(job: Job): Promise<void> {
    const answer = await this.#send(job.chunk);
    // Given up meanwhile: it is counted.
    if (!this.#underWay.delete(job)) return;
    this.#take(job, answer);
    this.#sendReady();
  }

  async #send({ bytes }: SealedChunk): Promise<Answer> {
    let whole: Uint8Array;
    try {
      whole = await bytes;
    } catch (error) {
      return { kind: "refused", error: new Error(`can't be encoded: ${String(error)}`) };
    }
    return this.#post.send(whole);
  }

  #take(job: Job, answer: Answer): void {
    const { spans } = job.chunk;
    switch (answer.kind) {
      case "taken": {
        const refused = Math.min(answer.refused, spans);
        this.#confirmed++;
        this.#pause.reset();
        this.#books.confirm(spans - refused);
        if (refused > 0) this.#fail(refused, new StatusError(200, "partial success"));
        this.#settle(job);
        break;
      }
      case "later":
        this.#lastError = answer.error;
        // Also in the pause between: one that fails at once fails before others can be confirmed.
        if (this.#confirmed > job.confirmedBefore) job.passedOver++;
        job.confirmedBefore = this.#confirmed;
        if (job.passedOver > PASSED_OVER) this.#lose(job, spans, answer.error);
        else this.#putBack(job);
        this.#pause.begin(answer.afterMs);
        break;
      case "refused":
        this.#lose(job, spans, answer.error);
        break;
      default:
        answer satisfies never;
    }
  }

  #putBack(job: Job): void {
    const after = this.#waiting.findIndex((other) => other.number > job.number);
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, job);
  }

  /** Its spans don't wait any longer to be put into a request. */
  #leaveQueue(job: Job): void {
    if (job.tried) return;
    job.tried = true;
    job.confirmedBefore = this.#confirmed;
    this.#books.send(job.chunk.spans);
  }

  #lose(job: Job, spans: number, error: Error): void {
    this.#fail(spans, error);
    this.#settle(job);
  }

  #fail(spans: number, error: Error): void {
    this.#failures++;
    this.#lastError = error;
    this.#books.fail(spans, error);
  }

  #settle(job: Job): void {
    this.#bytes -= job.chunk.size;
    const oldest = this.#oldest();
    const done = this.#waiters.filter(({ last }) => last < oldest);
    this.#waiters = this.#waiters.filter(({ last }) => last >= oldest);
    for (const { resolve } of done) resolve();
  }

  #oldest(): number {
    let oldest = this.#waiting[0]?.number ?? Number.POSITIVE_INFINITY;
    for (const { number } of this.#underWay) oldest = Math.min(oldest, number);
    return oldest;
  }
}
