import type { LogFile } from "../../storage/file-layer.ts";
import { fileLineBatches, MAX_LINE_BYTES } from "../../storage/file-lines.ts";
import type { JournalDamage, OnJournalDamage } from "./journal-damage.ts";
import { readRecord } from "./record.ts";
import { type Fault, RecordSequence } from "./record-sequence.ts";

export interface ScanOptions {
  readonly path: string;
  /** Offset of the first record. */
  readonly first: number;
  /** First offset of the next segment, if there is one: nothing from there on counts in this one. */
  readonly limit: number | undefined;
  readonly onDamage: OnJournalDamage;
}

export interface ScannedSegment {
  /** Offset in the file behind the last record that counts. */
  readonly size: number;
  /** Bytes behind it: of writes that were never reported as done. */
  readonly torn: number;
  /** Offset behind the last record. */
  readonly end: number;
}

/** Damages held until it is known whether they are only of a write that was cut short. */
const MAX_DOUBTS = 100;
const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** Whether the last line of a file is a whole record of this offset. */
export async function endsWithRecord(file: LogFile, offset: number): Promise<boolean> {
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
    return typeof record !== "string" && record.line.offset === offset;
  }
}

/**
 * Reads a segment that a crash may have left, and tells what of it counts.
 *
 * A place that is no record is damage where a later write stands behind it: that one was begun only
 * once all before it was on the disk. With nothing behind it but records of the same write, it is the
 * end of a write that was cut short and never reported as done, of which the disk kept some parts.
 */
export async function scanSegment(file: LogFile, options: ScanOptions): Promise<ScannedSegment> {
  const { first, limit, onDamage, path } = options;
  const fileSize = await file.size();
  const sequence = new RecordSequence(first, limit);
  const doubts = new Doubts(path, onDamage);
  let size = 0;
  let end = first;
  let number = 1;
  let stop = fileSize;
  read: for await (const lines of fileLineBatches(file, 0, fileSize)) {
    for (const line of lines) {
      const { fault, isBeyond, record } = sequence.take(line);
      if (isBeyond) {
        stop = line.start;
        break read;
      }
      if (fault !== undefined) doubts.add(fault, line.number);
      number = line.ended ? line.number + 1 : line.number;
      if (record === undefined || (doubts.any && record.write <= end)) continue;
      doubts.confirm();
      size = line.end;
      end = record.line.offset + 1;
    }
  }
  if (limit === undefined || end === limit) return { size, torn: fileSize - size, end };
  const missing = sequence.end(stop, limit);
  if (missing !== undefined) doubts.add(missing, number);
  doubts.confirm();
  return { size: stop, torn: 0, end: limit };
}

class Doubts {
  readonly #path: string;
  readonly #onDamage: OnJournalDamage;
  #damages: JournalDamage[] = [];
  #more = 0;

  constructor(path: string, onDamage: OnJournalDamage) {
    this.#path = path;
    this.#onDamage = onDamage;
  }

  get any(): boolean {
    return this.#damages.length > 0;
  }

  add({ expected, found }: Fault, line: number): void {
    if (this.#damages.length < MAX_DOUBTS) {
      this.#damages.push({ file: this.#path, line, expected, found });
    } else {
      this.#more += 1;
    }
  }

  confirm(): void {
    const damages = this.#damages;
    const last = damages.at(-1);
    if (last === undefined) return;
    const more = this.#more;
    this.#damages = [];
    this.#more = 0;
    for (const damage of damages) this.#onDamage(damage);
    if (more > 0) {
      const { expected, file, line } = last;
      this.#onDamage({ file, line: line + 1, expected, found: `${more} more places like this` });
    }
  }
}
