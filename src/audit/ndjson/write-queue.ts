import { type ChunkPool, LineChunks } from "../../storage/line-chunks.ts";
import { asError } from "../../storage/system-error.ts";
import type { Journal } from "./journal.ts";

/** A line and the hash that its commit covers. */
export interface QueuedLine {
  readonly line: string;
  readonly hash: string;
}

export interface WriteQueueOptions {
  readonly journal: Journal;
  readonly pool: ChunkPool;
  /** Each call gets a write of its own. */
  readonly each: boolean;
  /** Calls go together into one write up to this many bytes. */
  readonly batchBytes: number;
  /** A write failed, and with it every call that waits: told before the calls are. */
  readonly onFailure: () => void;
}

/** A call whose lines wait. It is told in this order; what `stored` and `failed` throw is dropped. */
export interface QueuedCall {
  /** Its lines are in the log, and nothing behind them is. */
  committed(): void;
  stored(): void;
  /** Nothing of its lines is in the log. */
  failed(error: Error): void;
}

/** The write that a call's lines go into, shared by all calls of that write. */
export interface QueuedWrite {
  /** Rejects with the store's error when nothing of the lines is in the log. */
  readonly written: Promise<void>;
  /** Resolves when the calls have been told, whatever became of the write. */
  readonly told: Promise<void>;
}

interface Batch extends QueuedWrite {
  readonly lines: LineChunks;
  /** Lines that are encoded only when it is their turn. */
  late: readonly QueuedLine[];
  bytes: number;
  readonly hashes: string[];
  readonly calls: QueuedCall[];
  readonly settle: (failure: Error | undefined) => void;
  /** Written also without lines. */
  probe: boolean;
}

/**
 * Calls in the order they came, the waiting ones going together into the next write.
 *
 * When a write fails, so does everything queued behind it: its rows are chained to rows that are not
 * there.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  #waiting: Batch[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** Bytes not yet written, those of the running write included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param probe whether the store has to be written to even if no line is to be. */
  push(lines: readonly QueuedLine[], call: QueuedCall, probe = false): QueuedWrite {
    const batch = this.#openBatch();
    const before = batch.bytes;
    if (this.#options.each) {
      // A chunk for every waiting call would cost far more than its line.
      batch.late = lines;
      for (const { line } of lines) batch.bytes += Buffer.byteLength(line) + 1;
    } else {
      for (const { line } of lines) batch.lines.add(line);
      batch.bytes = batch.lines.bytes;
    }
    for (const { hash } of lines) batch.hashes.push(hash);
    this.#bytes += batch.bytes - before;
    batch.probe ||= probe;
    // Not at once: the other calls of this moment shall go into the same write.
    this.#running ??= Promise.resolve().then(() => this.#run());
    batch.calls.push(call);
    return batch;
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #openBatch(): Batch {
    const { batchBytes, each, pool } = this.#options;
    const last = this.#waiting.at(-1);
    if (last !== undefined && !each && last.bytes < batchBytes) return last;
    const batch = newBatch(new LineChunks(pool));
    this.#waiting.push(batch);
    return batch;
  }

  async #run(): Promise<void> {
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      try {
        for (const { line } of batch.late) batch.lines.add(line);
        if (batch.hashes.length > 0 || batch.probe) {
          await this.#options.journal.write(batch.lines, batch.hashes);
        }
        for (const call of batch.calls) call.committed();
        batch.settle(undefined);
      } catch (thrown) {
        this.#fail(batch, asError(thrown));
      }
      batch.lines.release();
      this.#bytes -= batch.bytes;
    }
    this.#running = undefined;
  }

  #fail(first: Batch, error: Error): void {
    const behind = this.#waiting;
    this.#waiting = [];
    this.#options.onFailure();
    first.settle(error);
    for (const batch of behind) {
      batch.settle(error);
      this.#bytes -= batch.bytes;
      batch.lines.release();
    }
  }
}

function newBatch(lines: LineChunks): Batch {
  const calls: QueuedCall[] = [];
  let settle: Batch["settle"] = () => {};
  const written = new Promise<void>((resolve, reject) => {
    settle = (failure) => {
      tell(calls, failure);
      if (failure === undefined) resolve();
      else reject(failure);
    };
  });
  return {
    lines,
    late: [],
    bytes: 0,
    hashes: [],
    calls,
    written,
    told: written.catch(() => {}),
    settle,
    probe: false,
  };
}

function tell(calls: readonly QueuedCall[], failure: Error | undefined): void {
  for (const call of calls) {
    try {
      if (failure === undefined) call.stored();
      else call.failed(failure);
    } catch {
      // The trouble of one who waits is not the log's, nor that of the others.
    }
  }
}
