import { setTimeout as sleep } from "node:timers/promises";
import type { IdCache } from "../../bridge/door.ts";
import type { Dialect, RecordedEvent } from "../../replay/door.ts";
import type { EventJournal } from "../journal/event-journal.ts";
import type { LogLine } from "../journal/log-line.ts";
import { decodeLogLine } from "../processor/decode-log-line.ts";
import { identityOf } from "./check-line.ts";

/** What the feed needs of a processor. */
export interface FedProcessor {
  take(line: LogLine): Promise<void> | undefined;
  idle(nowMs: number): Promise<void>;
  settle(): Promise<number>;
  /** What `settle` resolved with last. */
  readonly settled: number;
  /** What came of all lines below it is stored; not below `settled`. */
  readonly stored: number;
  close(graceMs: number): Promise<void>;
}

/** What the feed needs of the journal. */
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
  /** Lines before the position that the processor is given again, to know what it knew. */
  readonly lookback: number;
  /** Told of each position from which lines are still needed. */
  readonly onSettled: (position: number) => void;
  /** Told of a checkpoint that could not be written: the one after it may be. */
  readonly onError: (error: unknown, where: string) => void;
}

/** How long no line comes until the processor is told that time passes, in ms. */
const IDLE_MS = 500;
/** Between two times that what is done is stored, in ms. */
const SETTLE_MS = 1_000;

type Batch = IteratorResult<readonly LogLine[], unknown>;

/** Gives the lines of the journal to the processor, and moves the journal's position with what is stored. */
export class JournalFeed {
  readonly #options: JournalFeedOptions;
  readonly #abort = new AbortController();
  readonly #playing: Promise<void>;
  readonly #settling: Promise<void>;
  #played: number;
  #finishing = false;
  #wake: (() => void) | undefined;

  /** It begins at once. */
  constructor(options: JournalFeedOptions) {
    const { journal, lookback } = options;
    this.#options = options;
    this.#played = Math.max(journal.first, journal.position - lookback);
    this.#playing = this.#play(this.#played);
    this.#settling = this.#settleNowAndThen();
    this.#playing.catch(() => {});
    this.#settling.catch(() => {});
  }

  /** Rejects when it can't go on: the journal is damaged, say. Resolves when it was stopped. */
  get ended(): Promise<void> {
    return Promise.all([this.#playing, this.#settling]).then(() => {});
  }

  /**
   * Plays what is in the journal, stores it, and moves the position; what has not come to that within
   * `graceMs` stays in the journal, and is played at the next start.
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

  /** The next lines; `undefined` when none come for a while. */
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
        // A processor that is closed says so; the last position is asked of it then.
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

/** A batch on its way: whether it is here can be asked without waiting. */
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

  /** @throws what reading it threw. */
  get(): Batch | undefined {
    if (this.#failed !== undefined) throw this.#failed.error;
    return this.#here;
  }
}

/** Lines that are counted as one block, in bytes: the count is kept in few entries. */
const BLOCK_BYTES = 1024 * 1024;

interface Block {
  last: number;
  bytes: number;
}

/** How much of the journal is still needed: appended, and not below the commit position. */
export class Backlog {
  readonly #blocks: Block[] = [];
  #bytes = 0;

  /** Bytes of the lines, rounded up to whole blocks of 1 MiB at the old end. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lines were appended. @param last the offset of the last of them. */
  add(last: number, bytes: number): void {
    this.#bytes += bytes;
    const block = this.#blocks.at(-1);
    // Appends may end in another order than they began: a block ends with the highest offset.
    if (block !== undefined && block.bytes < BLOCK_BYTES) {
      block.last = Math.max(block.last, last);
      block.bytes += bytes;
    } else this.#blocks.push({ last: Math.max(block?.last ?? 0, last), bytes });
  }

  /** Lines below this offset are needed no more. */
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

/** What a start found in the journal. */
export interface Recovered {
  /** Lines that are there. */
  readonly lines: number;
  /** Of them, those that are still needed: of open runs, or not stored yet. */
  readonly needed: number;
  /** Damaged places in the last write. */
  readonly torn: number;
  /** Their bytes, which are set aside. */
  readonly tornBytes: number;
  /** Lines that are known to be missing there. */
  readonly missing: number;
}

/** Learns from the journal which events were accepted lately, and how much of it is still needed. */
export async function recoverJournal(
  journal: EventJournal,
  ids: IdCache,
  backlog: Backlog,
  dialects: readonly Dialect<RecordedEvent>[],
  tenant: string,
): Promise<Recovered> {
  const { first, next, position, torn } = journal;
  const lately = Math.max(first, next - ids.limit);
  const from = Math.max(first, Math.min(position, lately));
  let lines = from - first;
  let needed = 0;
  for await (const line of journal.read(from)) {
    lines += 1;
    if (line.offset >= position) {
      needed += 1;
      backlog.add(line.offset, Buffer.byteLength(line.text));
    }
    if (line.offset < lately) continue;
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
