import { asError } from "../../storage/system-error.ts";
import { linesSize } from "./check-lines.ts";
import type { Arrival, JournalWriter } from "./journal-writer.ts";
import type { NewLine } from "./log-line.ts";

/** The offsets that lines were given. */
export interface Appended {
  readonly first: number;
  readonly last: number;
}

export interface AppendQueueOptions {
  readonly writer: JournalWriter;
  /** Each call gets a write and a sync of its own. */
  readonly each: boolean;
  /** A call is refused while this many bytes wait. */
  readonly maxPendingBytes: number;
  /** Told after each write that succeeded, before its calls are. */
  readonly onWritten: () => void;
}

interface WaitingCall extends Arrival {
  readonly bytes: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
}

/** Calls go together into one write up to this many bytes. */
const GROUP_BYTES = 4 * 1024 * 1024;

/** Calls in the order they came, those that wait going together into the next write. */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  #waiting: WaitingCall[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  /** Nothing waits, and nothing is being written. */
  get idle(): boolean {
    return this.#running === undefined;
  }

  push(lines: readonly NewLine[]): Promise<Appended> {
    const bytes = linesSize(lines);
    const { maxPendingBytes } = this.#options;
    if (this.#bytes >= maxPendingBytes) {
      const waits = `${this.#bytes} bytes wait to be written, expected below ${maxPendingBytes}`;
      return Promise.reject(Object.assign(new Error(waits), { code: "EBUSY" }));
    }
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lines, arrivedMs: Date.now(), bytes, resolve, reject });
      // Not at once: the other calls of this moment shall go into the same write.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#write(this.#nextGroup());
    this.#running = undefined;
  }

  #nextGroup(): readonly WaitingCall[] {
    const waiting = this.#waiting;
    let calls = 0;
    for (let bytes = 0; calls < waiting.length && bytes < GROUP_BYTES; calls += 1) {
      bytes += this.#options.each ? GROUP_BYTES : (waiting[calls]?.bytes ?? 0);
    }
    this.#waiting = waiting.slice(calls);
    return waiting.slice(0, calls);
  }

  async #write(calls: readonly WaitingCall[]): Promise<void> {
    try {
      let first = await this.#options.writer.write(calls);
      this.#options.onWritten();
      for (const { lines, resolve } of calls) {
        resolve({ first, last: first + lines.length - 1 });
        first += lines.length;
      }
    } catch (thrown) {
      const error = asError(thrown);
      for (const { reject } of calls) reject(error);
    }
    for (const { bytes } of calls) this.#bytes -= bytes;
  }
}
