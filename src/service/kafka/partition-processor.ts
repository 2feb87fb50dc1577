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

/** The methods of a `LogProcessor` that a partition uses. */
export type LineTaker = Pick<LogProcessor, "take" | "idle" | "settle" | "close" | "figures">;

/** Reports a line that the log processor of a partition cannot read. */
export type Reject = (line: LogLine, issues: readonly DecodeIssue[]) => Promise<void>;

export interface PartitionProcessorOptions extends TopicPartition {
  /** The committed offset. Records before it only rebuild state. */
  readonly from: number;
  /** Where reading begins, at or before `from`. */
  readonly start: number;
  readonly rules: RecordRules;
  readonly makeProcessor: (reject: Reject) => LineTaker;
  /** Stores an unreadable record. Resolves when it is stored. */
  readonly toDeadLetter: (
    record: TopicRecord,
    value: Buffer | null,
    issues: readonly DecodeIssue[],
  ) => Promise<void>;
  /** Called with the number of unreadable records that are skipped, after they were reported. */
  readonly onLost: (records: number) => void;
  readonly onHungry: () => void;
  /** Called if the log was replaced: end this processor and open the partition again. */
  readonly onReplaced: () => void;
  readonly onError: (error: unknown, where: string) => void;
}

/** Maximum number of waiting chunks. A second one must not wait behind one of this size, in bytes. */
const CHUNKS_WAITING = 2;
const CHUNK_BYTES_WAITING = 16 * 1024 * 1024;
/** Age after which the end of the log is queried again, in ms. */
const END_OLD_MS = 5_000;
/** Maximum number of dead letters that are being stored before reading waits. */
const DEAD_LETTERS_AT_ONCE = 1000;
/**
 * Number of records between two time checks, and time after which other work (such as heartbeats) gets a turn, in ms.
 */
const RECORDS_A_LOOK = 64;
const TURN_MS = 15;
/** Interval of checks while no records come, in ms. */
const IDLE_MS = 500;

/**
 * Plays the records of one partition in the order of their offsets, and tracks up to which offset all results are
 * stored.
 */
export class PartitionProcessor implements FetchTarget, EndTarget {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly #options: PartitionProcessorOptions;
  readonly #processor: LineTaker;
  readonly #chunks: RecordChunk[] = [];
  /** The record of each line, for dead letters. */
  readonly #records = new WeakMap<LogLine, TopicRecord>();
  readonly #pending = new PendingOffsets();
  /** Pending dead letters of records without lines. */
  readonly #deadLetters = new StoreFlow(DEAD_LETTERS_AT_ONCE, () => {});
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;
  #wake: (() => void) | undefined;
  /** The offset after the last fetched record, and after the last played one. */
  #next: number;
  #played: number;
  /** Offset and time, in ms, of the last progress that {@link stuckMs} saw. */
  #movedTo: number;
  #movedMs = performance.now();
  #lastLine = -1;
  /** Lost records before this offset were reported. */
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

  /** The offset to commit: all results before it are stored, and no open run began before it. */
  get stored(): number {
    return this.#stored;
  }

  /**
   * Records up to the end of the log that were not played yet, including those of open transactions. `undefined` before
   * the first answer.
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
      inFlight: inFlight + this.#deadLetters.count,
      stalled: stalled || this.#deadLetters.isStalled(Date.now()),
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

  /** Call it about every second: checks for progress, and begins to {@link settle}. */
  tick(): void {
    this.#deadLetters.look(Date.now());
    void this.stuckMs;
    this.settle();
  }

  /** Begins to store all finished results. Then {@link stored} rises. */
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
   * Ends: plays no more, waits `graceMs` at most for pending results, and leaves open runs open. Then {@link stored} is
   * final.
   */
  async end(graceMs: number): Promise<void> {
    this.#ending.abort();
    this.#wake?.();
    const end = performance.now() + graceMs;
    const settled = this.#working.then(async () => {
      await this.#settling;
      await this.#settle();
    });
    // The next owner repeats failed work.
    await within(
      graceMs,
      settled.catch(() => {}),
    );
    await this.#processor.close(Math.max(0, end - performance.now()));
  }

  async #settle(): Promise<void> {
    const position = await this.#processor.settle();
    // Nothing waits in the log processor, so offsets that it never received (ends of transactions, dead letters) are
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
        // Usually because the log processor is closed.
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
    // Time may pass for the log processor only if nothing is left to read: remaining records may be earlier.
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
      // The record was played before an error in the same chunk.
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

  /** Reports unreadable records. Those before the committed offset were reported before. */
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
      // The lines share one offset, which is done when all of them are.
      const part: ProcessorLine = left > 0 ? { ...line, more: true } : line;
      this.#records.set(part, record);
      await this.#processor.take(part);
    }
  }

  async #unreadable(record: TopicRecord, issues: readonly DecodeIssue[]): Promise<void> {
    // Below the committed offset it is stored already.
    if (record.offset < this.from) return;
    const bytes = (record.value?.length ?? 0) + (record.key?.length ?? 0);
    this.#deadLetters.begin(bytes);
    const stored = this.#toDeadLetter(detachedRecord(record, record.value), issues).then((safe) => {
      if (safe) this.#deadLetters.end(bytes);
    });
    if (this.#deadLetters.full) await stored;
  }

  /** Handles a line that the log processor could not read. */
  async #rejected(line: LogLine, issues: readonly DecodeIssue[]): Promise<void> {
    const record = this.#records.get(line);
    if (record === undefined) throw new Error(`${this.name}: a line of no record was rejected`);
    const whole = record.value?.length === Buffer.byteLength(line.text);
    const own = detachedRecord(record, whole ? record.value : Buffer.from(line.text));
    // The log processor keeps the line until it is stored, and with it the record.
    this.#records.set(line, own);
    await this.#toDeadLetter(own, issues);
  }

  /**
   * @param record has the unreadable bytes as its value.
   * @returns whether it is stored.
   */
  async #toDeadLetter(record: TopicRecord, issues: readonly DecodeIssue[]): Promise<boolean> {
    this.#pending.add(record.offset);
    try {
      await this.#options.toDeadLetter(record, record.value, issues);
      this.#pending.delete(record.offset);
      return true;
    } catch (error) {
      // Earlier offsets may be committed. This record is read again.
      if (!this.#ending.signal.aborted) this.#options.onError(error, this.name);
      return false;
    }
  }
}

/** Offsets of records that are being stored. Added in ascending order, some repeatedly. */
class PendingOffsets {
  readonly #counts = new Map<number, number>();

  /** The lowest offset. */
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
