import { BATCH_BYTES, BATCH_LINES, type JournalReader } from "./journal-reader.ts";
import type { LineCall } from "./journal-writer.ts";
import type { LogLine } from "./log-line.ts";
import type { SegmentList } from "./segment-list.ts";

/**
 * Those that read the lines of a journal as they come. A follower gets written lines from memory. It reads files only
 * at its beginning, and when it has fallen too far behind.
 */
export class Followers {
  readonly #segments: SegmentList;
  readonly #readerFrom: (from: number) => JournalReader;
  readonly #all = new Set<WrittenLines>();
  #closed = false;

  constructor(segments: SegmentList, readerFrom: (from: number) => JournalReader) {
    this.#segments = segments;
    this.#readerFrom = readerFrom;
  }

  /** Lines were written, and are on the disk. */
  written(calls: readonly LineCall[]): void {
    for (const follower of this.#all) for (const call of calls) follower.add(call);
  }

  /** Ends all of them. */
  close(): void {
    this.#closed = true;
    for (const { wake } of this.#all) wake();
  }

  /** @returns batches of lines. It ends when the signal is aborted or the followers are closed. */
  async *follow(
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LogLine[], void, undefined> {
    const written = new WrittenLines();
    const isOver = () => signal.aborted || this.#closed;
    let reader: JournalReader | undefined;
    let at = from;
    this.#all.add(written);
    signal.addEventListener("abort", written.wake);
    try {
      while (!isOver()) {
        const batch = written.take();
        const last = batch.at(-1);
        if (last !== undefined) {
          at = last.offset + 1;
          yield batch;
        } else if (!written.isBehind) {
          await written.changed(isOver);
        } else if (at < this.#segments.next) {
          reader ??= this.#readerFrom(at);
          for await (const read of reader.upTo(this.#segments.next)) {
            yield read;
            if (isOver()) return;
          }
          at = reader.at;
        } else {
          written.keepFrom(at);
          await reader?.close();
          reader = undefined;
        }
      }
    } finally {
      this.#all.delete(written);
      signal.removeEventListener("abort", written.wake);
      await reader?.close();
    }
  }
}

/** Maximum length of the texts that a follower has not taken yet, in UTF-16 units. One write more may exceed it. */
const MOST_LENGTH = 8 * 1024 * 1024;

/** Written lines that one follower has not taken yet. */
class WrittenLines {
  readonly #calls: LineCall[] = [];
  /** Taken lines of the first call. */
  #taken = 0;
  #length = 0;
  /** The offset after the kept lines. `undefined`: too many lines were written, so none are kept. */
  #next: number | undefined;
  #resolve: (() => void) | undefined;
  readonly wake = () => this.#resolve?.();

  /** Whether lines are missing after those that are kept. */
  get isBehind(): boolean {
    return this.#next === undefined;
  }

  /** Keeps lines again. The follower has everything before this offset, up to the end of the files. */
  keepFrom(offset: number): void {
    this.#next = offset;
  }

  add(call: LineCall): void {
    const end = call.first + call.lines.length;
    // The end of the files may already include lines of this call.
    if (this.#next !== undefined && end > this.#next) {
      if (this.#calls.length === 0) this.#taken = Math.max(0, this.#next - call.first);
      if (this.#length > MOST_LENGTH) this.#next = undefined;
      else {
        this.#next = end;
        this.#calls.push(call);
        for (const { text } of call.lines) this.#length += text.length;
      }
    }
    this.wake();
  }

  /** The next lines. None: wait until it has changed. */
  take(): readonly LogLine[] {
    const batch: LogLine[] = [];
    let length = 0;
    while (batch.length < BATCH_LINES && length < BATCH_BYTES) {
      const call = this.#calls[0];
      if (call === undefined) break;
      const line = call.lines[this.#taken];
      if (line === undefined) {
        this.#calls.shift();
        this.#taken = 0;
        continue;
      }
      const { decoded, dialect, key, tenant, text, trusted } = line;
      const offset = call.first + this.#taken;
      // Named one by one: a spread takes four times as long.
      batch.push({
        offset,
        text,
        tenant,
        dialect,
        key,
        trusted,
        arrivedMs: call.arrivedMs,
        decoded,
      });
      length += text.length;
      this.#taken += 1;
    }
    this.#length -= length;
    return batch;
  }

  /** Resolves at the next call of `wake`, or at once if `isOver`. */
  async changed(isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
  }
}
