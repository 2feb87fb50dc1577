import { type Attempt, type SendFailure, StatusError } from "./attempt.ts";
import type { Post } from "./otlp-post.ts";
import { Outage } from "./outage.ts";
import { Pause } from "./pause.ts";
import type { SendPolicy } from "./send-policy.ts";

export interface SpanSenderOptions {
  readonly post: Post;
  /** Requests under way at once. */
  readonly requests: number;
  readonly policy: SendPolicy;
  /**
   * Called when the endpoint has taken nothing for the policy's `outageMs`, and at most once a minute
   * while that lasts: with the last failure, and how long it has lasted, in ms.
   */
  readonly onOutage?: ((failure: SendFailure, ms: number) => void) | undefined;
}

/** Spans to be sent in one request. */
export interface SpanRequest {
  readonly spans: number;
  /** The most bytes that it holds while it is not settled. */
  readonly size: number;
  /** Its bytes, asked for at each attempt. What it throws or rejects with refuses the request. */
  encode(): Uint8Array | Promise<Uint8Array>;
}

/** What became of a request in the end. */
export type Outcome =
  /** The endpoint has the spans, without those that it refused. */
  | { readonly kind: "taken"; readonly refused: number; readonly said?: string | undefined }
  /** The endpoint does not want it, however often it comes. */
  | ({ readonly kind: "refused" } & SendFailure)
  /** It was given up. */
  | ({ readonly kind: "lost" } & SendFailure);

/** Callbacks of a request. They are called synchronously, and must not throw. */
export interface RequestWatcher {
  /** It is tried for the first time, or given up before that. */
  started?(): void;
  settled(outcome: Outcome): void;
}

type FailedAttempt = Extract<Attempt, { readonly kind: "failed" }>;

/** A request with its place in the order. */
interface Job {
  readonly number: number;
  readonly request: SpanRequest;
  readonly watcher: RequestWatcher;
  /** When its time is over, by the process's clock in ms; set at the first attempt. */
  deadline: number | undefined;
  /**
   * The most that its next attempt may take, in ms: what was left when the wait before it began, so that
   * an attempt has time for an answer also at the end.
   */
  attemptMs: number;
  failures: number;
  /** Attempts that failed after another request had been confirmed since the one before. */
  passedOver: number;
  /** How many requests were confirmed at its last attempt that failed, or when it was first tried. */
  confirmedBefore: number;
}

/**
 * Sends requests in their order, a few at once, until each is taken, refused or given up; the
 * {@link SendPolicy} says when.
 *
 * After a failure that may pass it sends nothing for a while; where the policy keeps the order, the request
 * goes back to its place before all that have not been tried.
 */
export class SpanSender {
  readonly #post: Post;
  readonly #requests: number;
  readonly #policy: SendPolicy;
  readonly #pause: Pause;
  readonly #outage: Outage<SendFailure>;
  /** In the order in which they are sent. */
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

  /** Bytes of all requests that are not settled, those under way too. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of the last attempt that failed, or took a request without some of its spans. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Resolves with what became of the request. */
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
      passedOver: 0,
      confirmedBefore: 0,
    });
    if (this.#closed) this.giveUp(new Error("spans are sent no longer"));
    else this.#sendReady();
  }

  /** A caller waits: ends a pause that the endpoint has not asked for. */
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
   * Everything that is not settled is lost, and no more is sent.
   *
   * @param error why, where no attempt has failed before.
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

  /** @returns when its time is over. */
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
    // Given up meanwhile: it is settled.
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

  #retry(job: Job, deadline: number, { afterMs, error, said }: FailedAttempt): void {
    const { mostAskedMs, passedOver, retries } = this.#policy;
    this.#lastError = error;
    this.#outage.failed({ error, said });
    job.failures++;
    job.attemptMs = deadline - performance.now();
    // Also in the pause between: one that fails at once fails before others can be confirmed.
    if (this.#confirmed > job.confirmedBefore) job.passedOver++;
    job.confirmedBefore = this.#confirmed;
    this.#pause.begin(afterMs === undefined ? undefined : Math.min(afterMs, mostAskedMs));
    const isOver = job.failures > retries || this.#pause.until > deadline;
    if (isOver) {
      // The wait was its own: the requests behind it begin anew.
      this.#pause.stop();
      this.#pause.reset();
    }
    if (isOver || job.passedOver > passedOver) {
      this.#settle(job, { kind: "lost", error, said });
      return;
    }
    const after = this.#policy.keepsOrder
      ? this.#waiting.findIndex((other) => other.number > job.number)
      : -1;
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, job);
  }

  #refuse(job: Job, { error, said }: SendFailure): void {
    this.#lastError = error;
    this.#settle(job, { kind: "refused", error, said });
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
