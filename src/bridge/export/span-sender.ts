import { type Attempt, isTooLarge, type SendFailure, StatusError } from "./attempt.ts";
import type { Post } from "./otlp-post.ts";
import { Outage } from "./outage.ts";
import { Pause } from "./pause.ts";
import type { SendPolicy } from "./send-policy.ts";

export interface SpanSenderOptions {
  readonly post: Post;
  /** Concurrent requests. */
  readonly requests: number;
  readonly policy: SendPolicy;
  /**
   * Called during an outage of more than the policy's `outageMs`, at most once a minute, with the last failure and
   * the duration of the outage in ms.
   */
  readonly onOutage?: ((failure: SendFailure, ms: number) => void) | undefined;
}

/** The spans of one request. */
export interface SpanRequest {
  readonly spans: number;
  /** Upper bound of its bytes until it is settled. */
  readonly size: number;
  /** Returns its bytes, at each attempt. If it throws or rejects, the request is refused. */
  encode(): Uint8Array | Promise<Uint8Array>;
  /** Two requests with half of its spans each. It is called for two spans or more. Absent: it is never split. */
  halves?(): readonly [SpanRequest, SpanRequest];
}

/**
 * A request of spans that are encoded at each attempt.
 *
 * @param size bytes that they take until it is settled. Default 0.
 */
export function requestOf<S>(
  spans: readonly S[],
  encode: (spans: readonly S[]) => Uint8Array | Promise<Uint8Array>,
  size = 0,
): SpanRequest {
  const half = Math.ceil(spans.length / 2);
  const halves = () =>
    [
      requestOf(spans.slice(0, half), encode, Math.ceil(size / 2)),
      requestOf(spans.slice(half), encode, Math.floor(size / 2)),
    ] as const;
  return { spans: spans.length, size, encode: () => encode(spans), halves };
}

/** The final result of a request. */
export type Outcome =
  /** The endpoint accepted the spans, except the `refused` ones. */
  | { readonly kind: "taken"; readonly refused: number; readonly detail?: string | undefined }
  /** The endpoint rejected it permanently. */
  | ({ readonly kind: "refused" } & SendFailure)
  /** The sender gave up. */
  | ({ readonly kind: "lost" } & SendFailure);

/** The final result of a request, or of a part of one that was split. */
export interface Part {
  readonly spans: number;
  readonly outcome: Outcome;
}

/** Callbacks of a request. They are called synchronously, and must not throw. */
export interface RequestWatcher {
  /** At the first attempt, or when the sender gives up before it. */
  started?(): void;
  /** Once, or once for each part of a request that was split. */
  settled(part: Part): void;
}

type FailedAttempt = Extract<Attempt, { readonly kind: "failed" }>;

/** A queued request. */
interface Job {
  readonly number: number;
  readonly request: SpanRequest;
  readonly watcher: RequestWatcher;
  /** Its deadline, by the process's clock in ms. Set at the first attempt. */
  deadline: number | undefined;
  /**
   * Time limit of its next attempt in ms: the time that was left before the wait, so that the last attempt has
   * time for a response.
   */
  attemptMs: number;
  failures: number;
  /** Number of failed attempts with a success of another request since the attempt before. */
  overtaken: number;
  /** Number of successful requests at its last failed attempt, or at its first attempt. */
  confirmedBefore: number;
}

/**
 * Sends requests in order, a few at once, until each is accepted, refused or lost by the {@link SendPolicy}. A request
 * that the policy splits is sent as two halves, and these again.
 *
 * After a temporary failure it pauses. If the policy keeps the order, the request is then sent before all that
 * were not tried yet.
 */
export class SpanSender {
  readonly #post: Post;
  readonly #requests: number;
  readonly #policy: SendPolicy;
  readonly #pause: Pause;
  readonly #outage: Outage<SendFailure>;
  /** In sending order. */
  #waiting: Job[] = [];
  readonly #underWay = new Set<Job>();
  #waiters: { readonly last: number; readonly resolve: () => void }[] = [];
  #next = 0;
  #bytes = 0;
  #confirmed = 0;
  #lastError: Error | undefined;
  #closed = false;

  constructor({ onOutage, policy, post, requests }: SpanSenderOptions) {
    this.#post = post;
    this.#requests = requests;
    this.#policy = policy;
    this.#pause = new Pause(policy, () => this.#sendReady());
    this.#outage = new Outage(policy.outageMs, (failure, ms) => onOutage?.(failure, ms));
  }

  /** Bytes of all requests that are not settled, also of those being sent. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Error of the last attempt that failed or was only partly accepted. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Resolves with the final result of the request, one for each part if it was split. */
  send(request: SpanRequest): Promise<readonly Part[]> {
    const parts: Part[] = [];
    let left = request.spans;
    return new Promise((resolve) => {
      const settled = (part: Part) => {
        parts.push(part);
        left -= part.spans;
        if (left <= 0) resolve(parts);
      };
      this.add(request, { settled });
    });
  }

  add(request: SpanRequest, watcher: RequestWatcher): void {
    this.#waiting.push(this.#job(request, watcher, this.#next++));
    if (this.#closed) this.giveUp(new Error("spans are sent no longer"));
    else this.#sendReady();
  }

  /** Ends a pause for a waiting caller, unless the endpoint asked for it. */
  hurry(): void {
    this.#pause.hurry();
  }

  /** Resolves when all requests that were added so far are settled. */
  whenSettled(): Promise<void> {
    const last = this.#next - 1;
    if (this.#oldest() > last) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ last, resolve }));
  }

  /**
   * Makes all requests that are not settled lost, and stops sending.
   *
   * @param error the reason, if no attempt has failed before.
   */
  giveUp(error: Error): void {
    this.#closed = true;
    this.#pause.stop();
    this.#outage.stop();
    const left = [...this.#underWay, ...this.#waiting];
    this.#underWay.clear();
    this.#waiting = [];
    for (const job of left) {
      this.#start(job);
      this.#settle(job, { kind: "lost", error: this.#lastError ?? error });
    }
    this.#post.abort();
  }

  #sendReady(): void {
    while (!this.#pause.isOn && this.#underWay.size < this.#requests) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      this.#underWay.add(job);
      void this.#attempt(job, this.#start(job));
    }
  }

  /** @returns the deadline. */
  #start(job: Job): number {
    if (job.deadline !== undefined) return job.deadline;
    job.deadline = performance.now() + this.#policy.withinMs;
    job.confirmedBefore = this.#confirmed;
    job.watcher.started?.();
    return job.deadline;
  }

  async #attempt(job: Job, deadline: number): Promise<void> {
    let settle: () => void;
    try {
      const encoded = job.request.encode();
      const bytes = encoded instanceof Uint8Array ? encoded : await encoded;
      this.#outage.begin();
      const answer = await this.#post.send(bytes, job.attemptMs);
      settle = () => this.#take(job, deadline, answer);
    } catch (thrown) {
      const error = new Error(`can't be encoded: ${String(thrown)}`, { cause: thrown });
      settle = () => this.#refuse(job, { error }, true);
    }
    // It was settled meanwhile by `giveUp`.
    if (!this.#underWay.delete(job)) return;
    settle();
    this.#sendReady();
  }

  #take(job: Job, deadline: number, answer: Attempt): void {
    switch (answer.kind) {
      case "taken": {
        const refused = Math.min(answer.refused, job.request.spans);
        this.#confirmed++;
        this.#pause.reset();
        this.#outage.end();
        if (refused > 0) this.#lastError = new StatusError(200, "partial success");
        this.#settle(job, { ...answer, refused });
        break;
      }
      case "failed":
        // Before a retry, since some receivers answer 429 to a request that is too large for ever.
        if (this.#policy.isRetried(answer.error) && !isTooLarge(answer)) {
          this.#retry(job, deadline, answer);
        } else {
          this.#outage.end();
          this.#refuse(job, answer);
        }
        break;
      default:
        answer satisfies never;
    }
  }

  #retry(job: Job, deadline: number, { kind: _, ...failure }: FailedAttempt): void {
    const { mostAskedMs, overtaken, retries } = this.#policy;
    const { afterMs } = failure;
    this.#lastError = failure.error;
    this.#outage.failed(failure);
    job.failures++;
    job.attemptMs = deadline - performance.now();
    // Counted also for successes during the pause, since a fast failure comes before other responses.
    if (this.#confirmed > job.confirmedBefore) job.overtaken++;
    job.confirmedBefore = this.#confirmed;
    this.#pause.begin(afterMs === undefined ? undefined : Math.min(afterMs, mostAskedMs));
    const isOver = job.failures > retries || this.#pause.until > deadline;
    if (isOver) {
      // The pause was caused by this request, so the next ones start without one.
      this.#pause.stop();
      this.#pause.reset();
    }
    if (isOver || job.overtaken > overtaken) {
      if (isOver || !this.#split(job, failure)) this.#settle(job, { kind: "lost", ...failure });
      return;
    }
    this.#wait(job);
  }

  #wait(job: Job): void {
    const after = this.#policy.keepsOrder
      ? this.#waiting.findIndex((other) => other.number >= job.number)
      : -1;
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, job);
  }

  /**
   * @param isUnreadable one of its spans cannot be encoded.
   * @returns false if the request is not split.
   */
  #split(job: Job, failure: SendFailure, isUnreadable = false): boolean {
    const { request, watcher } = job;
    if (request.spans < 2 || !(isUnreadable || this.#policy.isSplit(failure))) return false;
    const halves = request.halves?.();
    if (halves === undefined) return false;
    this.#bytes -= request.size;
    // In order, each job goes before those of its number.
    for (const half of this.#policy.keepsOrder ? [...halves].reverse() : halves) {
      // With the number of the request, so that a flush waits for both. Without `started`, which was called.
      this.#wait(this.#job(half, { settled: watcher.settled }, job.number));
    }
    return true;
  }

  #job(request: SpanRequest, watcher: RequestWatcher, number: number): Job {
    this.#bytes += request.size;
    return {
      number,
      request,
      watcher,
      deadline: undefined,
      attemptMs: this.#policy.withinMs,
      failures: 0,
      overtaken: 0,
      confirmedBefore: 0,
    };
  }

  #refuse(job: Job, { error, detail }: SendFailure, isUnreadable = false): void {
    if (this.#split(job, { error, detail }, isUnreadable)) return;
    this.#lastError = error;
    this.#settle(job, { kind: "refused", error, detail });
  }

  #settle(job: Job, outcome: Outcome): void {
    this.#bytes -= job.request.size;
    job.watcher.settled({ spans: job.request.spans, outcome });
    if (this.#waiters.length === 0) return;
    const oldest = this.#oldest();
    const done = this.#waiters.filter(({ last }) => last < oldest);
    this.#waiters = this.#waiters.filter(({ last }) => last >= oldest);
    for (const { resolve } of done) resolve();
  }

  #oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { number } of this.#underWay) oldest = Math.min(oldest, number);
    for (const { number } of this.#waiting) oldest = Math.min(oldest, number);
    return oldest;
  }
}
