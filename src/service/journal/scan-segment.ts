import { type FileLine, fileLineBatches, type LogFile, MAX_LINE_BYTES } from "../../audit/door.ts";
import type { DamagedRange, JournalDamage, OnJournalDamage } from "./journal-damage.ts";
import { isEndMark, type JournalRecord, readRecord } from "./record.ts";
import { type Fault, RecordSequence, recordOf } from "./record-sequence.ts";

export interface ScanOptions {
  readonly path: string;
  /** Offset of the first record. */
  readonly first: number;
  /** First offset of the next segment, if there is one: nothing from there on counts in this one. */
  readonly limit: number | undefined;
  /** An offset below which all was on the disk once. */
  readonly synced: number;
  readonly onDamage: OnJournalDamage;
}

export interface ScannedSegment {
  /** Offset in the file behind the last record that counts. */
  readonly size: number;
  /** Offset behind the last record. */
  readonly end: number;
  /** Places in the last write to be set aside, ascending. */
  readonly torn: readonly DamagedRange[];
  /** Records are missing at the end that were on the disk. */
  readonly isShort: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** Whether the last line of a file is a whole record that ends before this offset. */
export async function endsWithRecord(file: LogFile, end: number): Promise<boolean> {
  const size = await file.size();
  for (let span = CHUNK; ; span = Math.min(4 * span, MAX_LINE_BYTES)) {
    const from = Math.max(0, size - span);
    const buffer = Buffer.allocUnsafe(size - from);
    const tail = buffer.subarray(0, await file.read(buffer, from));
    if (tail.at(-1) !== NEWLINE || tail.length < 2) return false;
    const start = tail.lastIndexOf(NEWLINE, tail.length - 2) + 1;
    // Of a line that begins further ahead more has to be read.
    if (start === 0 && from > 0 && span < MAX_LINE_BYTES) continue;
    const record = readRecord(tail.subarray(start, -1));
    return typeof record !== "string" && record.next === end;
  }
}

/**
 * Reads a segment that a crash may have left, and tells what of it counts.
 *
 * A place that is no record is damage below what was on the disk, and where a later write stands behind
 * it: that one was begun only once all before it was on the disk. Of the last write the disk may have
 * kept any parts: every record of it counts, and what is between them is torn.
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

/** Where a record stands in the file, and what comes behind it. */
interface Placed {
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
  /** An offset below which all was on the disk once. */
  readonly #synced: number;
  /** The last record with none but good lines before it, or known damage. */
  #intact: Placed;
  /** What was found behind that, until it is known whether it is damage. */
  #doubts: JournalDamage[] = [];
  /** Records behind that, which count where it is not. */
  #candidates: Placed[] = [];
  #lines = 0;

  constructor(options: ScanOptions) {
    const { first, limit, synced } = options;
    this.#options = options;
    this.#sequence = new RecordSequence(first);
    this.#synced = limit ?? synced;
    this.#intact = { record: undefined, start: 0, end: 0, line: 1, next: first };
  }

  /** @returns whether the line may belong to the segment, and more is to be read. */
  take(line: FileLine): boolean {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    const found = recordOf(line);
    if (typeof found !== "string" && found.next > limit) return false;
    this.#lines = line.number;
    const { fault, record } = this.#sequence.take(line.start, found);
    this.#doubt(fault, line.number);
    if (typeof found === "string") return true;
    const { end, number, start } = line;
    const placed = { record: found, start, end, line: number + 1, next: found.next };
    if (record !== undefined && (this.#doubts.length === 0 || this.#showsDamage(record))) {
      this.#confirm();
      this.#intact = placed;
    } else if (found.offset >= this.#intact.next) {
      this.#candidates.push(placed);
    }
    return true;
  }

  /**
   * @param stop where in the file the segment ends.
   * @param size of the file.
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
    // Offsets behind the last line are given anew: no hole keeps them.
    const lines = chain.findLastIndex(({ record }) => record?.line !== undefined) + 1;
    for (const placed of chain.slice(0, lines)) {
      const { record, start } = placed;
      const missing = (record?.offset ?? at.next) - at.next;
      if (start > at.end || missing > 0) torn.push(tornPlace(at, start, missing, record));
      at = placed;
    }
    const behind = chain.at(-1);
    const mark = behind !== undefined && isMark(behind) ? behind : undefined;
    const stopAt = mark?.end === size ? mark.start : size;
    const missing = this.#missing(at, mark);
    if (stopAt > at.end || missing !== 0) torn.push(tornPlace(at, stopAt, missing, undefined));
    return { size: isMark(at) ? at.start : at.end, end: at.next, torn, isShort: false };
  }

  /** Lines that are missing behind the last one. */
  #missing(last: Placed, mark: Placed | undefined): number | undefined {
    if (this.#options.limit !== undefined) return 0;
    if (mark !== undefined) return mark.next - last.next;
    return isMark(last) ? 0 : undefined;
  }

  /** A record behind doubts, from which it follows that what they are about was on the disk. */
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

  /** As many records as can stand in order: some may be there twice, or in the wrong place. */
  #chain(): readonly Placed[] {
    const offsets = this.#candidates.map(({ record, next }) => record?.offset ?? next);
    const kept = new Set(longestRise(offsets));
    return this.#candidates.filter((_, index) => kept.has(index));
  }
}

function isMark({ record }: Placed): boolean {
  return record !== undefined && isEndMark(record);
}

function tornPlace(
  { end, line, next }: Placed,
  to: number,
  missing: number | undefined,
  before: JournalRecord | undefined,
): DamagedRange {
  return { line, position: end, bytes: to - end, offset: next, missing, before };
}

/**
 * Indices of a longest strictly rising selection of some numbers, ascending: what to keep so that as
 * much as possible stands in order.
 */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** For each length of a rise the index of the lowest number that ends one. */
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
