import { setTimeout as sleep } from "node:timers/promises";
import type { IdCache } from "../../bridge/door.ts";
import type { Dialect, RecordedEvent } from "../../replay/door.ts";
import type { EventJournal } from "../journal/event-journal.ts";
import type { LogLine } from "../journal/log-line.ts";
import { decodeLogLine } from "../processor/decode-log-line.ts";
import { identityOf } from "./check-line.ts";

/** The methods of a log processor that the feed uses. */
export interface FedProcessor {
  take(line: LogLine): Promise<void> | undefined;
  idle(nowMs: number): Promise<void>;
  settle(): Promise<number>;
  /** Last result of `settle`. */
  readonly settled: number;
  /** All spans and rows of lines below this offset are stored. Not below `settled`. */
  readonly stored: number;
  close(graceMs: number): Promise<void>;
}

/** The methods of the journal that the feed uses. */
export interface FedJournal {
  readonly first: number;
  readonly next: number;
  readonly position: number;
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly LogLine[]>;
  checkpoint(position: number, stored: number): Promise<void>;
}

interface JournalFeedOptions {
  readonly journal: FedJournal;
  readonly processor: FedProcessor;
  /** Lines before the position that the processor reads again to rebuild its state. */
  readonly lookback: number;
  /** Called with each new position: the first line that is still needed. */
  readonly onSettled: (position: number) => void;
  /** Called with errors of checkpoints. A later checkpoint may succeed. */
  readonly onError: (error: unknown, where: string) => void;
}

/** Time without lines after which the processor's `idle` is called, in ms. */
const IDLE_MS = 500;
/** Interval between settlements, in ms. */
const SETTLE_MS = 1_000;

type Batch = IteratorResult<readonly LogLine[], unknown>;

/** Feeds the lines of the journal to the processor, and moves the journal's position when they are stored. */
export class JournalFeed {
  readonly #options: JournalFeedOptions;
  readonly #abort = new AbortController();
  readonly #playing: Promise<void>;
  readonly #settling: Promise<void>;
  #played: number;
  #finishing = false;
  #wake: (() => void) | undefined;

  /** Begins at once. */
  constructor(options: JournalFeedOptions) {
    const { journal, lookback } = options;
    this.#options = options;
    this.#played = Math.max(journal.first, journal.position - lookback);
    this.#playing = this.#play(this.#played);
    this.#settling = this.#settleNowAndThen();
    this.#playing.catch(() => {});
    this.#settling.catch(() => {});
  }

  /** Rejects if it cannot go on, for example because the journal is damaged. Resolves after a stop. */
  get ended(): Promise<void> {
    return Promise.all([this.#playing, this.#settling]).then(() => {});
  }

  /**
   * Plays and stores the lines of the journal, and moves the position. Lines that are not stored within `graceMs` stay
   * in the journal and are played at the next start.
   */
  async stop(graceMs: number): Promise<void> {
    const { processor } = this.#options;
    const endMs = performance.now() + graceMs;
    this.#finishing = true;
    this.#wake?.();
    const late = new AbortController();
    const inTime = sleep(graceMs / 2, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([this.#playing.catch(() => {}), inTime]);
    late.abort();
    this.#abort.abort();
    this.#wake?.();
    await processor.close(Math.max(0, endMs - performance.now()));
    await Promise.allSettled([this.#playing, this.#settling]);
    await this.#moveOn();
  }

  async #play(from: number): Promise<void> {
    const { journal, processor } = this.#options;
    const batches = journal.follow(from, this.#abort.signal)[Symbol.asyncIterator]();
    let coming = new Coming(batches.next(), this.#rouse);
    while (!this.#abort.signal.aborted) {
      if (this.#finishing && this.#played >= journal.next) break;
      const batch = await this.#soon(coming);
      if (batch === undefined) {
        await processor.idle(Date.now());
        continue;
      }
      if (batch.done === true) break;
      for (const line of batch.value) {
        if (this.#abort.signal.aborted) break;
        const busy = processor.take(line);
        if (busy !== undefined) await busy;
        this.#played = line.offset + 1;
      }
      coming = new Coming(batches.next(), this.#rouse);
    }
    this.#abort.abort();
    await batches.return?.(undefined);
  }

  /** The next lines. `undefined` if none come for a while. */
  async #soon(coming: Coming): Promise<Batch | undefined> {
    if (!coming.over) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, IDLE_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    return coming.get();
  }

  readonly #rouse = () => this.#wake?.();

  async #settleNowAndThen(): Promise<void> {
    const { signal } = this.#abort;
    for (;;) {
      await sleep(SETTLE_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#options.processor.settle();
      } catch (error) {
        // A closed processor rejects. Its last position is read afterwards.
        if (signal.aborted) return;
        throw error;
      }
      await this.#moveOn();
    }
  }

  async #moveOn(): Promise<void> {
    const { journal, processor, onError, onSettled } = this.#options;
    try {
      await journal.checkpoint(processor.settled, processor.stored);
      onSettled(journal.position);
    } catch (error) {
      onError(error, "checkpoint");
    }
  }
}

/** A pending batch whose state can be read without waiting. */
class Coming {
  #here: Batch | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(batch: Promise<Batch>, rouse: () => void) {
    batch.then(
      (here) => {
        this.#here = here;
        rouse();
      },
      (error: unknown) => {
        this.#failed = { error };
        rouse();
      },
    );
  }

  get over(): boolean {
    return this.#here !== undefined || this.#failed !== undefined;
  }

  /** @throws the error of reading it. */
  get(): Batch | undefined {
    if (this.#failed !== undefined) throw this.#failed.error;
    return this.#here;
  }
}

/** Lines are counted in blocks of this many bytes, to keep few entries. */
const BLOCK_BYTES = 1024 * 1024;

interface Block {
  last: number;
  bytes: number;
}

/** The part of the journal that is still needed: lines at or above the commit position. */
export class Backlog {
  readonly #blocks: Block[] = [];
  #bytes = 0;

  /** Bytes of these lines, up to 1 MiB too many. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds appended lines. @param last the offset of the last line. */
  add(last: number, bytes: number): void {
    this.#bytes += bytes;
    const block = this.#blocks.at(-1);
    // Appends may end in another order than they began. A block ends with the highest offset.
    if (block !== undefined && block.bytes < BLOCK_BYTES) {
      block.last = Math.max(block.last, last);
      block.bytes += bytes;
    } else this.#blocks.push({ last: Math.max(block?.last ?? 0, last), bytes });
  }

  /** Removes lines below this offset. */
  settle(position: number): void {
    let done = 0;
    for (const { last, bytes } of this.#blocks) {
      if (last >= position) break;
      this.#bytes -= bytes;
      done += 1;
    }
    this.#blocks.splice(0, done);
  }
}

/** The state of the journal at the start. */
export interface Recovered {
  /** Number of lines. */
  readonly lines: number;
  /** Lines that are still needed: of open runs, or not stored yet. */
  readonly needed: number;
  /** Damaged parts of the last write. */
  readonly torn: number;
  /** Bytes of these parts. They are set aside. */
  readonly tornBytes: number;
  /** Number of lines known to be missing there. */
  readonly missing: number;
}

/** Reads recently accepted event IDs, and the size of the backlog, from the journal. */
export async function recoverJournal(
  journal: EventJournal,
  ids: IdCache,
  backlog: Backlog,
  dialects: readonly Dialect<RecordedEvent>[],
  tenant: string,
): Promise<Recovered> {
  const { first, next, position, torn } = journal;
  const recent = Math.max(first, next - ids.limit);
  const from = Math.max(first, Math.min(position, recent));
  let lines = from - first;
  let needed = 0;
  for await (const line of journal.read(from)) {
    lines += 1;
    if (line.offset >= position) {
      needed += 1;
      backlog.add(line.offset, Buffer.byteLength(line.text));
    }
    if (line.offset < recent) continue;
    const decoded = decodeLogLine(line, dialects);
    if (decoded.event === undefined) continue;
    const { tenant: owner, eventId } = identityOf(decoded, line.tenant ?? tenant);
    if (eventId !== undefined) ids.add(owner, eventId);
  }
  return {
    lines,
    needed,
    torn: torn.length,
    tornBytes: torn.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: torn.reduce((sum, { missing = 0 }) => sum + missing, 0),
  };
}
