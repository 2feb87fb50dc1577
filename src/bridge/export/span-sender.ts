import { type Attempt, type SendFailure, StatusError } from "./attempt.ts";
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
}

/** The final result of a request. */
export type Outcome =
  /** The endpoint accepted the spans, except the `refused` ones. */
  | { readonly kind: "taken"; readonly refused: number; readonly detail?: string | undefined }
  /** The endpoint rejected it permanently. */
  | ({ readonly kind: "refused" } & SendFailure)
  /** The sender gave up. */
  | ({ readonly kind: "lost" } & SendFailure);

/** Callbacks of a request. They are called synchronously, and must not throw. */
export interface RequestWatcher {
  /** At the first attempt, or when the sender gives up before it. */
  started?(): void;
  settled(outcome: Outcome): void;
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
 * Sends requests in order, a few at once, until each is accepted, refused or lost by the {@link SendPolicy}.
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

  /** Resolves with the final result of the request. */
  send(request: SpanRequest): Promise<Outcome> {
    return new Promise((settled) => this.add(request, { settled }));
  }

  add(request: SpanRequest, watcher: RequestWatcher): void {
    this.#bytes += request.size;
    this.#waiting.push({
      number: this.#next++,
      request,
      watcher,
      deadline: undefined,
      attemptMs: this.#policy.withinMs,
      failures: 0,
      overtaken: 0,
      confirmedBefore: 0,
    });
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
      settle = () => this.#refuse(job, { error });
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
        if (this.#policy.isRetried(answer.error)) this.#retry(job, deadline, answer);
        else {
          this.#outage.end();
          this.#refuse(job, answer);
        }
        break;
      default:
        answer satisfies never;
    }
  }

  #retry(job: Job, deadline: number, { afterMs, error, detail }: FailedAttempt): void {
    const { mostAskedMs, overtaken, retries } = this.#policy;
    this.#lastError = error;
    this.#outage.failed({ error, detail });
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
      this.#settle(job, { kind: "lost", error, detail });
      return;
    }
    const after = this.#policy.keepsOrder
      ? this.#waiting.findIndex((other) => other.number > job.number)
      : -1;
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, job);
  }

  #refuse(job: Job, { error, detail }: SendFailure): void {
    this.#lastError = error;
    this.#settle(job, { kind: "refused", error, detail });
  }

  #settle(job: Job, outcome: Outcome): void {
    this.#bytes -= job.request.size;
    job.watcher.settled(outcome);
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
