import { asError } from "../../events/door.ts";

/** Calls that share one write. The user of a {@link CommitQueue} defines how they are stored. */
export interface CommitBatch<Call> {
  /** Memory that its calls hold, in bytes. */
  readonly bytes: number;
  /** Whether `call` fits into this write as well. Called from the second call on. */
  hasRoomFor(call: Call): boolean;
  add(call: Call): void;
  /** Stores all calls. Rejects when none was stored. */
  write(): Promise<void>;
  /** Called once, before {@link Commit.written} settles. Must not throw. */
  settle?(failure: Error | undefined): void;
}

/** The write that a call goes into, shared by all calls of that write. */
export interface Commit {
  /** Rejects with the store's error when nothing was stored. */
  readonly written: Promise<void>;
  /** Resolves when the calls know the outcome of the write. Never rejects. */
  readonly reported: Promise<void>;
}

export interface CommitQueueOptions<Call> {
  readonly newBatch: () => CommitBatch<Call>;
  /** Whether the calls behind a failed write fail with it, because they build on its calls. */
  readonly failBehind: boolean;
  /** Called when a write failed, before its calls and those behind it are settled. */
  readonly onFailure?: () => void;
}

interface PendingCommit<Call> extends Commit {
  readonly batch: CommitBatch<Call>;
  /** Bytes of its calls. The batch may have more during its write. */
  bytes: number;
  readonly settle: (failure: Error | undefined) => void;
}

/** Group commit: one write at a time, and the calls that wait meanwhile share the next. */
export class CommitQueue<Call> {
  readonly #options: CommitQueueOptions<Call>;
  #waiting: PendingCommit<Call>[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: CommitQueueOptions<Call>) {
    this.#options = options;
  }

  /** Bytes of the calls that wait or are being written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Nothing waits, and nothing is being written. */
  get idle(): boolean {
    return this.#running === undefined;
  }

  push(call: Call): Commit {
    const commit = this.#commitFor(call);
    const { batch } = commit;
    const before = batch.bytes;
    batch.add(call);
    const added = batch.bytes - before;
    commit.bytes += added;
    this.#bytes += added;
    // Deferred, so that other calls of the same moment share the write.
    this.#running ??= Promise.resolve().then(() => this.#run());
    return commit;
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #commitFor(call: Call): PendingCommit<Call> {
    const last = this.#waiting.at(-1);
    if (last?.batch.hasRoomFor(call) === true) return last;
    const commit = pendingCommit(this.#options.newBatch());
    this.#waiting.push(commit);
    return commit;
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await next.batch.write();
        this.#settle(next, undefined);
      } catch (thrown) {
        this.#fail(next, asError(thrown));
      }
    }
    this.#running = undefined;
  }

  /** No await in here, so that a call that is pushed afterwards does not build on a failed one. */
  #fail(first: PendingCommit<Call>, error: Error): void {
    const behind = this.#options.failBehind ? this.#waiting : [];
    if (this.#options.failBehind) this.#waiting = [];
    this.#options.onFailure?.();
    this.#settle(first, error);
    for (const commit of behind) this.#settle(commit, error);
  }

  #settle(commit: PendingCommit<Call>, failure: Error | undefined): void {
    this.#bytes -= commit.bytes;
    commit.settle(failure);
  }
}

function pendingCommit<Call>(batch: CommitBatch<Call>): PendingCommit<Call> {
  let settle: PendingCommit<Call>["settle"] = () => {};
  const written = new Promise<void>((resolve, reject) => {
    settle = (failure) => {
      batch.settle?.(failure);
      if (failure === undefined) resolve();
      else reject(failure);
    };
  });
  return { batch, bytes: 0, written, reported: written.catch(() => {}), settle };
}
