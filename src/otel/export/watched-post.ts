import { shortText } from "../setup/loss-reason.ts";
import type { SpanLedger } from "../setup/span-ledger.ts";
import type { Answer } from "./answer.ts";
import type { Post } from "./otlp-post.ts";

/** So long an endpoint may take nothing before it is told of, in ms. The stock exporter gives up then. */
const PATIENCE_MS = 10_000;
/** Least time between two reports of one outage, in ms. */
const QUIET_MS = 60_000;

/**
 * Says when an endpoint takes nothing for a while. Nothing is lost by that yet, and so no loss is
 * reported: without this a wrong address would be told of when the queue is full, or at the shutdown.
 */
export class WatchedPost implements Post {
  readonly #post: Post;
  readonly #ledger: Pick<SpanLedger, "counts">;
  readonly #tell: (trouble: Error) => void;
  /** Since when nothing was taken, by the process's clock; `undefined` while all is well. */
  #since: number | undefined;
  /** When the next report is due. */
  #due = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param ledger knows how many spans wait. */
  constructor(post: Post, ledger: Pick<SpanLedger, "counts">, tell: (trouble: Error) => void) {
    this.#post = post;
    this.#ledger = ledger;
    this.#tell = tell;
  }

  async send(bytes: Uint8Array): Promise<Answer> {
    this.#begin();
    const answer = await this.#post.send(bytes);
    if (answer.kind === "later") this.#failed(answer.error);
    else this.#end();
    return answer;
  }

  abort(): void {
    // What is given up on fails of itself: that is no news.
    this.#due = Number.POSITIVE_INFINITY;
    this.#stopWaiting();
    this.#post.abort();
  }

  #begin(): number {
    if (this.#since === undefined) {
      this.#since = performance.now();
      this.#due = Math.max(this.#due, this.#since + PATIENCE_MS);
    }
    return this.#since;
  }

  #end(): void {
    this.#since = undefined;
    this.#stopWaiting();
  }

  #failed(error: Error): void {
    const since = this.#begin();
    this.#stopWaiting();
    const now = performance.now();
    if (now >= this.#due) {
      this.#due = now + QUIET_MS;
      this.#say(error, now - since);
    }
    // The next attempt may be far: an endpoint can ask for an hour.
    const wait = this.#due - now;
    if (wait <= QUIET_MS) this.#timer = setTimeout(() => this.#failed(error), wait).unref();
  }

  #say(error: Error, ms: number): void {
    const seconds = Math.round(ms / 1000);
    const { pending } = this.#ledger.counts();
    const waiting = `${pending} spans wait and are sent again`;
    const text = `the endpoint has taken no spans for ${seconds} s; ${waiting}: ${shortText(error)}`;
    this.#tell(new Error(text, { cause: error }));
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
