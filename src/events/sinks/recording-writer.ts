import { createWriteStream, openSync } from "node:fs";
import type { Writable } from "node:stream";
import { Deferred } from "../promises.ts";
import { endsInsideLine } from "./line-end.ts";

/** Bytes of lines that may wait for the file before `write` makes its caller wait. */
const FILE_BUFFER = 256 * 1024;

/** The target of lines: a file that the recorder opens, or a stream that you provide. */
export type RecordingTarget =
  | { readonly path: string | URL; readonly stream?: undefined }
  | { readonly stream: Writable; readonly path?: undefined };

/**
 * Writes lines to a file or stream, with back-pressure. After an error of the stream, every call fails with it,
 * because a recording with a gap would be misleading.
 */
export class RecordingWriter {
  /** Those whose file is open. They have one listener, since Node warns of more than ten. */
  static readonly #open = new Set<RecordingWriter>();
  readonly #name: string;
  readonly #stream: Writable;
  readonly #owned: boolean;
  readonly #maxBufferedBytes: number;
  #failure: Error | undefined;
  #closed: Promise<void> | undefined;
  /** Resolves for all waiting callers when there is room again. */
  #room: Deferred<void> | undefined;
  readonly #onDrain = (): void => {
    this.#room?.resolve();
    this.#room = undefined;
  };
  readonly #onError = (error: unknown): void => {
    this.#fail(error);
  };
  readonly #onClose = (): void => {
    if (this.#closed === undefined) this.#fail(new Error("the stream was closed"));
  };

  /**
   * Appends to a file. A new one is readable by its owner only. A last line without its end, of a process that was
   * killed, gets one, so that it does not spoil the first new line.
   *
   * @throws the system's error if the file cannot be opened.
   */
  constructor(target: RecordingTarget, maxBufferedBytes: number) {
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#owned = target.stream === undefined;
    if (target.stream === undefined) {
      this.#name = String(target.path);
      const fd = openSync(target.path, "a+", 0o600);
      this.#stream = createWriteStream(target.path, { fd, highWaterMark: FILE_BUFFER });
      if (endsInsideLine(fd)) this.#stream.write("\n");
      if (RecordingWriter.#open.size === 0) process.on("exit", RecordingWriter.#atExit);
      RecordingWriter.#open.add(this);
    } else {
      this.#name = "the stream";
      this.#stream = target.stream;
    }
    this.#stream.on("drain", this.#onDrain).on("error", this.#onError).on("close", this.#onClose);
  }

  /** Reports what waited when the process ended: nothing can be written any more. */
  static readonly #atExit = (): void => {
    if (process.env.OTEL_LOG_LEVEL?.trim().toLowerCase() === "none") return;
    for (const writer of RecordingWriter.#open) {
      const bytes = writer.#stream.writableLength;
      if (writer.#failure !== undefined || bytes === 0) continue;
      const advice = "call `await shutdown()` of the recorder in `finally` and before process.exit";
      const what = `recording to ${writer.#name}: the last ${bytes} bytes were not written`;
      process.stderr.write(`entelix-otel: ${what}: ${advice}\n`);
    }
  };

  /**
   * Writes one line.
   *
   * @returns nothing, or a promise of room if the stream is full.
   * @throws after a failed write, after `close`, and if more than the limit waits.
   */
  write(line: string): Promise<void> | undefined {
    this.#check();
    if (this.#stream.writableLength > this.#maxBufferedBytes) {
      throw new Error(
        `recording to ${this.#name}: more than ${this.#maxBufferedBytes} bytes wait to be written`,
      );
    }
    if (this.#stream.write(line)) return undefined;
    if (this.#room === undefined) {
      this.#room = new Deferred();
      // Callers may ignore it. The next call fails with the same error.
      this.#room.promise.catch(() => {});
    }
    return this.#room.promise;
  }

  /** Resolves when every line so far was passed to the system, also after `close`. Rejects if one was not. */
  async flush(): Promise<void> {
    // Adapters flush at the end of the process, when the application may have closed its sinks.
    if (this.#closed !== undefined) return this.#closed;
    this.#check();
    await new Promise<void>((resolve, reject) => {
      // Writes are done in order, so an empty one ends after all others.
      this.#stream.write("", (error) => {
        if (!error) return resolve();
        this.#fail(error);
        reject(this.#failure);
      });
    });
  }

  /** Flushes. A file is closed, a stream stays open. Rejects as `flush` does. */
  close(): Promise<void> {
    this.#closed ??= this.#close(this.flush());
    return this.#closed;
  }

  async #close(flushed: Promise<void>): Promise<void> {
    try {
      await flushed;
    } finally {
      if (this.#owned) await this.#closeFile();
      RecordingWriter.#open.delete(this);
      if (RecordingWriter.#open.size === 0) process.off("exit", RecordingWriter.#atExit);
      // A failed stream may still emit an error. Without a listener, it would end the process.
      if (this.#failure === undefined) this.#stream.off("error", this.#onError);
      this.#stream.off("drain", this.#onDrain).off("close", this.#onClose);
      this.#onDrain();
    }
  }

  #closeFile(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => {
      if (stream.closed) return resolve();
      stream.once("close", resolve);
      if (this.#failure === undefined) stream.end();
      else stream.destroy();
    });
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed !== undefined) {
      throw new Error(`recording to ${this.#name}: it was shut down`);
    }
    // A destroyed stream emits no event, and callers would wait forever.
    const { destroyed, errored } = this.#stream;
    if (destroyed) throw this.#fail(errored ?? new Error("the stream was closed"));
  }

  #fail(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#failure ??= new Error(`recording to ${this.#name}: ${reason}`, { cause });
    this.#room?.reject(this.#failure);
    this.#room = undefined;
    return this.#failure;
  }
}
