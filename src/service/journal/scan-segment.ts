import { type FileLine, fileLineBatches, type LogFile, MAX_LINE_BYTES } from "../../audit/door.ts";
import type { DamagedRange, JournalDamage, OnJournalDamage } from "./journal-damage.ts";
import { isEndMark, type JournalRecord, readRecord } from "./record.ts";
import { type Fault, RecordSequence, recordOf } from "./record-sequence.ts";

export interface ScanOptions {
  readonly path: string;
  /** Offset of the first record. */
  readonly first: number;
  /** First offset of the next segment, if there is one. Records from there on are ignored. */
  readonly limit: number | undefined;
  /** All records below this offset were on the disk. */
  readonly synced: number;
  readonly onDamage: OnJournalDamage;
}

export interface ScannedSegment {
  /** End of the last valid record, in the file. */
  readonly size: number;
  /** Offset after the last record. */
  readonly end: number;
  /** Damaged ranges in the last write, ascending. */
  readonly torn: readonly DamagedRange[];
  /** Whether records at the end are missing that were on the disk. */
  readonly isShort: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** Whether the last line of a file is a valid record that ends at this offset. */
export async function endsWithRecord(file: LogFile, end: number): Promise<boolean> {
  const size = await file.size();
  for (let span = CHUNK; ; span = Math.min(4 * span, MAX_LINE_BYTES)) {
    const from = Math.max(0, size - span);
    const buffer = Buffer.allocUnsafe(size - from);
    const tail = buffer.subarray(0, await file.read(buffer, from));
    if (tail.at(-1) !== NEWLINE || tail.length < 2) return false;
    const start = tail.lastIndexOf(NEWLINE, tail.length - 2) + 1;
    // The line begins earlier, so more must be read.
    if (start === 0 && from > 0 && span < MAX_LINE_BYTES) continue;
    const record = readRecord(tail.subarray(start, -1));
    return typeof record !== "string" && record.next === end;
  }
}

/**
 * Reads a segment after a possible crash.
 *
 * A range without a valid record is damage if its offsets were on the disk, or a later write follows: a write begins
 * only after everything before it was on the disk. The disk may have stored any parts of the last write. All valid
 * records of it are kept, and the ranges between them are torn.
 */
export async function scanSegment(file: LogFile, options: ScanOptions): Promise<ScannedSegment> {
  const scan = new Scan(options);
  const size = await file.size();
  for await (const lines of fileLineBatches(file, 0, size)) {
    for (const line of lines) {
      if (!scan.take(line)) return scan.end(line.start, size);
    }
  }
  return scan.end(size, size);
}

/** A record, its position in the file, and the next line and offset. */
interface Positioned {
  readonly record: JournalRecord | undefined;
  readonly start: number;
  readonly end: number;
  /** Number of the next line. */
  readonly line: number;
  /** Offset of the next record. */
  readonly next: number;
}

class Scan {
  readonly #options: ScanOptions;
  readonly #sequence: RecordSequence;
  /** All records below this offset were on the disk. */
  readonly #synced: number;
  /** The last record after valid records or known damage only. */
  #intact: Positioned;
  /** Faults after that record, until it is known whether they are damage. */
  #doubts: JournalDamage[] = [];
  /** Records after that record. They are kept if the faults are not damage. */
  #candidates: Positioned[] = [];
  #lines = 0;

  constructor(options: ScanOptions) {
    const { first, limit, synced } = options;
    this.#options = options;
    this.#sequence = new RecordSequence(first);
    this.#synced = limit ?? synced;
    this.#intact = { record: undefined, start: 0, end: 0, line: 1, next: first };
  }

  /** @returns whether the line may belong to the segment, so that reading goes on. */
  take(line: FileLine): boolean {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    const found = recordOf(line);
    if (typeof found !== "string" && found.next > limit) return false;
    this.#lines = line.number;
    const { fault, record } = this.#sequence.take(line.start, found);
    this.#doubt(fault, line.number);
    if (typeof found === "string") return true;
    const { end, number, start } = line;
    const positioned = { record: found, start, end, line: number + 1, next: found.next };
    if (record !== undefined && (this.#doubts.length === 0 || this.#showsDamage(record))) {
      this.#confirm();
      this.#intact = positioned;
    } else if (found.offset >= this.#intact.next) {
      this.#candidates.push(positioned);
    }
    return true;
  }

  /**
   * @param stop end of the segment, in the file.
   * @param size size of the file.
   */
  end(stop: number, size: number): ScannedSegment {
    const synced = this.#synced;
    this.#doubt(this.#sequence.end(stop, synced), this.#lines + 1);
    if (this.#intact.next < synced) {
      this.#confirm();
      return { size: stop, end: synced, torn: [], isShort: true };
    }
    const torn: DamagedRange[] = [];
    let at = this.#intact;
    const chain = this.#chain();
    // Offsets after the last line are assigned again, so no hole covers them.
    const lines = chain.findLastIndex(({ record }) => record?.line !== undefined) + 1;
    for (const positioned of chain.slice(0, lines)) {
      const { record, start } = positioned;
      const missing = (record?.offset ?? at.next) - at.next;
      if (start > at.end || missing > 0) torn.push(tornRange(at, start, missing, record));
      at = positioned;
    }
    const behind = chain.at(-1);
    const mark = behind !== undefined && isMark(behind) ? behind : undefined;
    const stopAt = mark?.end === size ? mark.start : size;
    const missing = this.#missing(at, mark);
    if (stopAt > at.end || missing !== 0) torn.push(tornRange(at, stopAt, missing, undefined));
    return { size: isMark(at) ? at.start : at.end, end: at.next, torn, isShort: false };
  }

  /** Number of lines that are missing after the last one. */
  #missing(last: Positioned, mark: Positioned | undefined): number | undefined {
    if (this.#options.limit !== undefined) return 0;
    if (mark !== undefined) return mark.next - last.next;
    return isMark(last) ? 0 : undefined;
  }

  /** Whether a record after faults shows that the missing records were on the disk. */
  #showsDamage({ offset, write }: JournalRecord): boolean {
    const expected = this.#intact.next;
    return expected < this.#synced || write > expected || (write === expected && offset === write);
  }

  #doubt(fault: Fault | undefined, line: number): void {
    if (fault === undefined) return;
    const { expected, found } = fault;
    this.#doubts.push({ file: this.#options.path, line, expected, found });
  }

  #confirm(): void {
    const doubts = this.#doubts;
    this.#doubts = [];
    this.#candidates = [];
    for (const damage of doubts) this.#options.onDamage(damage);
  }

  /** The longest ordered selection of records: some may be repeated or misplaced. */
  #chain(): readonly Positioned[] {
    const offsets = this.#candidates.map(({ record, next }) => record?.offset ?? next);
    const kept = new Set(longestRise(offsets));
    return this.#candidates.filter((_, index) => kept.has(index));
  }
}

function isMark({ record }: Positioned): boolean {
  return record !== undefined && isEndMark(record);
}

function tornRange(
  { end, line, next }: Positioned,
  to: number,
  missing: number | undefined,
  before: JournalRecord | undefined,
): DamagedRange {
  return { line, position: end, bytes: to - end, offset: next, missing, before };
}

/** Indices of a longest strictly rising selection of some numbers, ascending. */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** For each length of a selection: the index of the lowest number that ends one. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = index;
  }
  const rise: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before[at]) rise.push(at);
  return rise.reverse();
}
