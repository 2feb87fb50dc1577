import { type ChunkPool, LineChunks } from "../../storage/line-chunks.ts";
import { asError } from "../../storage/system-error.ts";
import type { Journal } from "./journal.ts";

/** One call waiting for its lines to be written. */
interface QueuedCall {
  readonly committed: () => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

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

interface Batch {
  readonly lines: LineChunks;
  /** Lines that are encoded only when it is their turn. */
  late: readonly QueuedLine[];
  bytes: number;
  readonly hashes: string[];
  readonly calls: QueuedCall[];
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

  /**
   * @param committed run once the lines are in the log, before anything behind them is written.
   * @param probe whether the store has to be written to even if no line is to be.
   * @returns a promise that rejects with the store's error when nothing of the lines is in the log.
   */
  push(lines: readonly QueuedLine[], committed: () => void, probe = false): Promise<void> {
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
    return new Promise((resolve, reject) => batch.calls.push({ committed, resolve, reject }));
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #openBatch(): Batch {
    const { batchBytes, each, pool } = this.#options;
    const last = this.#waiting.at(-1);
    if (last !== undefined && !each && last.bytes < batchBytes) return last;
    const lines = new LineChunks(pool);
    const batch: Batch = { lines, late: [], bytes: 0, hashes: [], calls: [], probe: false };
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
        for (const call of batch.calls) {
          call.committed();
          call.resolve();
        }
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
    for (const call of first.calls) call.reject(error);
    for (const batch of behind) {
      for (const call of batch.calls) call.reject(error);
      this.#bytes -= batch.bytes;
      batch.lines.release();
    }
  }
}
