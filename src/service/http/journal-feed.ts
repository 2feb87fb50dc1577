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

/** Interval at which the processor's `idle` is called if no line came meanwhile, in ms. */
const IDLE_MS = 500;
/** Interval between settlements, in ms. */
const SETTLE_MS = 1_000;

/** Feeds the lines of the journal to the processor, and moves the journal's position when they are stored. */
export class JournalFeed {
  readonly #options: JournalFeedOptions;
  readonly #abort = new AbortController();
  readonly #playing: Promise<void>;
  readonly #work: readonly Promise<void>[];
  #played: number;
  #isTaking = false;
  /** The last call of the processor's `idle`. No line is taken meanwhile. */
  #idle: Promise<void> = Promise.resolve();
  #finishing = false;

  /** Begins at once. */
  constructor(options: JournalFeedOptions) {
    const { journal, lookback } = options;
    this.#options = options;
    this.#played = Math.max(journal.first, journal.position - lookback);
    this.#playing = this.#play(this.#played);
    let played = this.#played;
    const idle = async () => {
      const isIdle = !this.#isTaking && this.#played === played;
      played = this.#played;
      if (isIdle) this.#idle = options.processor.idle(Date.now());
      await this.#idle;
    };
    const settling = this.#every(SETTLE_MS, () => this.#settle());
    this.#work = [this.#playing, settling, this.#every(IDLE_MS, idle)];
    this.ended.catch(() => {});
  }

  /** Rejects if it cannot go on, for example because the journal is damaged. Resolves after a stop. */
  get ended(): Promise<void> {
    return Promise.all(this.#work).then(() => {});
  }

  /**
   * Plays and stores the lines of the journal, and moves the position. Lines that are not stored within `graceMs` stay
   * in the journal and are played at the next start.
   */
  async stop(graceMs: number): Promise<void> {
    const { processor } = this.#options;
    const endMs = performance.now() + graceMs;
    this.#finishing = true;
    this.#endIfPlayed();
    const late = new AbortController();
    const inTime = sleep(graceMs / 2, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([this.#playing.catch(() => {}), inTime]);
    late.abort();
    this.#abort.abort();
    await processor.close(Math.max(0, endMs - performance.now()));
    await Promise.allSettled(this.#work);
    await this.#moveOn();
  }

  async #play(from: number): Promise<void> {
    const { journal, processor } = this.#options;
    const { signal } = this.#abort;
    for await (const lines of journal.follow(from, signal)) {
      await this.#idle;
      this.#isTaking = true;
      for (const line of lines) {
        if (signal.aborted) break;
        const busy = processor.take(line);
        if (busy !== undefined) await busy;
        this.#played = line.offset + 1;
      }
      this.#isTaking = false;
      this.#endIfPlayed();
    }
    this.#abort.abort();
  }

  /** Ends after the last line, if that is asked for. */
  #endIfPlayed(): void {
    if (this.#finishing && this.#played >= this.#options.journal.next) this.#abort.abort();
  }

  /** Does the work again and again, until the end. */
  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#abort;
    for (;;) {
      await sleep(ms, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await work();
    }
  }

  async #settle(): Promise<void> {
    try {
      await this.#options.processor.settle();
    } catch (error) {
      // A closed processor rejects. Its last position is read afterwards.
      if (this.#abort.signal.aborted) return;
      throw error;
    }
    await this.#moveOn();
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
