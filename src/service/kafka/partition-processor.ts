import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { StoreFlow, within } from "../../bridge/door.ts";
import type { DecodeIssue } from "../../replay/door.ts";
import type { LogLine } from "../journal/log-line.ts";
import type { LogProcessor } from "../processor/log-processor.ts";
import type { ProcessorFigures, ProcessorLine } from "../processor/log-processor-options.ts";
import type { FetchTarget } from "./fetcher.ts";
import type { EndTarget } from "./log-offsets.ts";
import { type RecordRules, recordLines } from "./record-lines.ts";
import {
  detachedRecord,
  type LostRecords,
  partitionName,
  type RecordChunk,
  type TopicPartition,
  type TopicRecord,
} from "./topic-record.ts";

/** What a partition's lines are given to: a `LogProcessor`. */
export type LineTaker = Pick<LogProcessor, "take" | "idle" | "settle" | "close" | "figures">;

/** How the log processor of a partition reports what it can't read. */
export type Reject = (line: LogLine, issues: readonly DecodeIssue[]) => Promise<void>;

export interface PartitionProcessorOptions extends TopicPartition {
  /** The committed offset: what is before it only rebuilds memory. */
  readonly from: number;
  /** Where reading begins, at or before `from`. */
  readonly start: number;
  readonly rules: RecordRules;
  readonly makeProcessor: (reject: Reject) => LineTaker;
  /** Stores what could not be read; resolves once that is safe. */
  readonly toDeadLetter: (
    record: TopicRecord,
    value: Buffer | null,
    issues: readonly DecodeIssue[],
  ) => Promise<void>;
  /** Called with how many records could not be read and are skipped, once they are reported. */
  readonly onLost: (records: number) => void;
  readonly onHungry: () => void;
  /** The log is another one than was played: this is to be ended, and the partition to be begun anew. */
  readonly onReplaced: () => void;
  readonly onError: (error: unknown, where: string) => void;
}

/** So many chunks wait for the one that is worked on, and no second one behind one of so many bytes. */
const CHUNKS_WAITING = 2;
const CHUNK_BYTES_WAITING = 16 * 1024 * 1024;
/** An end of the log that was heard of so long ago is asked for, in ms. */
const END_OLD_MS = 5_000;
/** So many dead letters may be under way before reading waits for them. */
const DEAD_LETTERS_AT_ONCE = 1000;
/** After so many records it is asked whether others (heartbeats, say) had their turn, in ms. */
const RECORDS_A_LOOK = 64;
const TURN_MS = 15;
/** Between two looks at what only the passing of time brings about, in ms. */
const IDLE_MS = 500;

/**
 * Plays the records of one partition, in the order of their offsets, and knows up to where all of it is
 * stored.
 */
export class PartitionProcessor implements FetchTarget, EndTarget {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly #options: PartitionProcessorOptions;
  readonly #processor: LineTaker;
  readonly #chunks: RecordChunk[] = [];
  /** Which record a line is of, for the dead letters. */
  readonly #records = new WeakMap<LogLine, TopicRecord>();
  readonly #pending = new PendingOffsets();
  /** Of the dead letters under way, those of records that hold no line. */
  readonly #letters = new StoreFlow(DEAD_LETTERS_AT_ONCE, () => {});
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;
  #wake: (() => void) | undefined;
  /** The offset after the last record that was fetched; after the last that was played. */
  #next: number;
  #played: number;
  /** Where {@link stuckMs} last saw it move, and when, in ms. */
  #movedTo: number;
  #movedMs = performance.now();
  #lastLine = -1;
  /** What was lost before this is reported. */
  #lostTo = 0;
  #end: number | undefined;
  #logEnd: number | undefined;
  #logEndMs = Number.NEGATIVE_INFINITY;
  #emptyTo = 0;
  #atEnd = false;
  #stored: number;
  #settling: Promise<void> | undefined;

  constructor(options: PartitionProcessorOptions) {
    this.#options = options;
    this.topic = options.topic;
    this.partition = options.partition;
    this.from = options.from;
    this.#next = options.start;
    this.#played = options.start;
    this.#stored = options.from;
    this.#movedTo = options.start;
    this.#processor = options.makeProcessor((line, issues) => this.#rejected(line, issues));
    this.#working = this.#work();
  }

  get name(): string {
    return partitionName(this);
  }

  get next(): number {
    return this.#next;
  }

  get hungry(): boolean {
    if (this.#ending.signal.aborted || this.#chunks.length >= CHUNKS_WAITING) return false;
    return this.#chunks.every(({ bytes }) => bytes < CHUNK_BYTES_WAITING);
  }

  /** The offset to commit: all that is before it is stored, and no open run began before it. */
  get stored(): number {
    return this.#stored;
  }

  /**
   * Records up to the end of the log that were not played yet, those that an open transaction keeps back
   * among them; `undefined` before the first answer.
   */
  get behind(): number | undefined {
    if (this.#logEnd === undefined) return undefined;
    return Math.max(0, this.#logEnd - Math.max(this.#played, this.#emptyTo));
  }

  get stuckMs(): number {
    const nowMs = performance.now();
    const isFree = (this.behind ?? 0) === 0 || this.figures.stalled;
    if (isFree || this.#played !== this.#movedTo) {
      this.#movedTo = this.#played;
      this.#movedMs = nowMs;
    }
    return nowMs - this.#movedMs;
  }

  get figures(): ProcessorFigures {
    const { inFlight, stalled, ...others } = this.#processor.figures;
    return {
      ...others,
      inFlight: inFlight + this.#letters.count,
      stalled: stalled || this.#letters.isStalled(Date.now()),
    };
  }

  get endIsOld(): boolean {
    return performance.now() - this.#logEndMs > END_OLD_MS;
  }

  endsAt(logEnd: number): void {
    this.#logEnd = logEnd;
    this.#logEndMs = performance.now();
  }

  deliver(chunk: RecordChunk): void {
    this.#next = chunk.next;
    this.#end = chunk.end ?? this.#end;
    if (chunk.logEnd !== undefined) this.endsAt(chunk.logEnd);
    if (chunk.emptyTo !== undefined && chunk.next === this.#played) this.#emptyTo = chunk.emptyTo;
    if (chunk.records.length > 0 || chunk.next > this.#played) this.#chunks.push(chunk);
    else this.#atEnd = this.#end !== undefined && this.#played >= this.#end;
    this.#wake?.();
  }

  moveTo(offset: number): void {
    this.#next = offset;
  }

  replaced(): void {
    this.#options.onReplaced();
  }

  /** Call it every second or so: looks whether it gets on, and begins to {@link settle}. */
  tick(): void {
    this.#letters.look(Date.now());
    void this.stuckMs;
    this.settle();
  }

  /** Begins to store all that is done; {@link stored} rises when it is. */
  settle(): void {
    this.#settling ??= this.#settle()
      .catch((error) => {
        if (!this.#ending.signal.aborted) this.#options.onError(error, this.name);
      })
      .finally(() => {
        this.#settling = undefined;
      });
  }

  /**
   * Hands over: plays no more, waits so long for what is under way to be stored, and leaves open runs
   * open. {@link stored} holds then.
   */
  async end(graceMs: number): Promise<void> {
    this.#ending.abort();
    this.#wake?.();
    const end = performance.now() + graceMs;
    const settled = this.#working.then(async () => {
      await this.#settling;
      await this.#settle();
    });
    // What fails now is done again by the next owner.
    await within(
      graceMs,
      settled.catch(() => {}),
    );
    await this.#processor.close(Math.max(0, end - performance.now()));
  }

  async #settle(): Promise<void> {
    const position = await this.#processor.settle();
    // Nothing waits in the log processor: what it never saw (the end of a transaction, a dead letter) is
    // done too.
    const done = position > this.#lastLine ? Math.max(position, this.#played) : position;
    this.#stored = Math.max(this.#stored, Math.min(done, this.#pending.first ?? done));
  }

  async #work(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const chunk = this.#chunks[0];
      try {
        if (chunk === undefined) await this.#rest();
        else await this.#play(chunk);
      } catch (error) {
        // A log processor that is closed, above all.
        if (signal.aborted) return;
        this.#options.onError(error, this.name);
        await sleep(IDLE_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #rest(): Promise<void> {
    const woken = new Promise<void>((wake) => {
      this.#wake = wake;
    });
    await within(IDLE_MS, woken);
    this.#wake = undefined;
    if (this.#chunks.length > 0 || this.#ending.signal.aborted) return;
    // Time passes for the log processor only where nothing is left to read: what the log still has may be
    // earlier.
    if (!this.#atEnd || this.#played < this.from) return;
    this.#atEnd = false;
    await this.#processor.idle(Date.now());
  }

  async #play(chunk: RecordChunk): Promise<void> {
    this.#atEnd = false;
    let since = performance.now();
    let count = 0;
    for (const lost of chunk.lost) this.#skip(lost);
    for (const record of chunk.records) {
      if (this.#ending.signal.aborted) return;
      // Played before, when something went wrong behind it.
      if (record.offset < this.#played) continue;
      const waiting = this.#take(record);
      if (waiting !== undefined) await waiting;
      this.#played = record.offset + 1;
      count++;
      if (count % RECORDS_A_LOOK === 0 && performance.now() - since > TURN_MS) {
        await turn();
        since = performance.now();
      }
    }
    this.#played = chunk.next;
    this.#chunks.shift();
    this.#options.onHungry();
  }

  /** Reports what could not be read; records before the committed offset were reported then. */
  #skip({ bytes, first, last, reason }: LostRecords): void {
    const from = Math.max(first, this.from, this.#lostTo);
    if (from > last) return;
    this.#lostTo = last + 1;
    const message = `offsets ${from} to ${last} cannot be read, and are lost: ${reason}; their batch has ${bytes} bytes in the log`;
    this.#options.onError(new Error(message), `${this.name}:${from}`);
    this.#options.onLost(last - from + 1);
  }

  #take(record: TopicRecord): Promise<void> | undefined {
    const read = recordLines(record, this.#options.rules);
    if ("issues" in read) return this.#unreadable(record, read.issues);
    const [first, ...others] = read.lines;
    if (first === undefined) return undefined;
    this.#lastLine = record.offset;
    if (others.length > 0) return this.#takeAll(record, read.lines);
    this.#records.set(first, record);
    return this.#processor.take(first);
  }

  async #takeAll(record: TopicRecord, lines: readonly LogLine[]): Promise<void> {
    let left = lines.length;
    for (const line of lines) {
      left--;
      // They have one offset, which is done with when all of them are.
      const part: ProcessorLine = left > 0 ? { ...line, more: true } : line;
      this.#records.set(part, record);
      await this.#processor.take(part);
    }
  }

  async #unreadable(record: TopicRecord, issues: readonly DecodeIssue[]): Promise<void> {
    // Below the committed offset it is safe already.
    if (record.offset < this.from) return;
    const bytes = (record.value?.length ?? 0) + (record.key?.length ?? 0);
    this.#letters.begin(bytes);
    const stored = this.#toDeadLetter(detachedRecord(record, record.value), issues).then((safe) => {
      if (safe) this.#letters.end(bytes);
    });
    if (this.#letters.full) await stored;
  }

  /** A line that the log processor could not read. */
  async #rejected(line: LogLine, issues: readonly DecodeIssue[]): Promise<void> {
    const record = this.#records.get(line);
    if (record === undefined) throw new Error(`${this.name}: a line of no record was rejected`);
    const whole = record.value?.length === Buffer.byteLength(line.text);
    const own = detachedRecord(record, whole ? record.value : Buffer.from(line.text));
    // The log processor keeps the line until it is safe, and with it what it is of.
    this.#records.set(line, own);
    await this.#toDeadLetter(own, issues);
  }

  /**
   * @param record with what could not be read of it as its value.
   * @returns whether it is safe.
   */
  async #toDeadLetter(record: TopicRecord, issues: readonly DecodeIssue[]): Promise<boolean> {
    this.#pending.add(record.offset);
    try {
      await this.#options.toDeadLetter(record, record.value, issues);
      this.#pending.delete(record.offset);
      return true;
    } catch (error) {
      // What is before it may be committed, and this is read again.
      if (!this.#ending.signal.aborted) this.#options.onError(error, this.name);
      return false;
    }
  }
}

/** Offsets of records that are being stored, added in ascending order, some more than once. */
class PendingOffsets {
  readonly #counts = new Map<number, number>();

  /** The lowest one. */
  get first(): number | undefined {
    for (const offset of this.#counts.keys()) return offset;
    return undefined;
  }

  add(offset: number): void {
    this.#counts.set(offset, (this.#counts.get(offset) ?? 0) + 1);
  }

  delete(offset: number): void {
    const count = this.#counts.get(offset);
    if (count === undefined) return;
    if (count > 1) this.#counts.set(offset, count - 1);
    else this.#counts.delete(offset);
  }
}
