import { type FileLayer, fileLineBatches, type LogFile } from "../../audit/door.ts";
import type { OnJournalDamage } from "./journal-damage.ts";
import type { LogLine } from "./log-line.ts";
import { claimedOffset } from "./record.ts";
import { type Fault, RecordSequence, recordOf } from "./record-sequence.ts";
import type { Segment, SegmentList } from "./segment-list.ts";

/** Most lines of one batch. */
export const BATCH_LINES = 1000;
/** A batch ends with the line that brings it to so many bytes. */
export const BATCH_BYTES = 1024 * 1024;

export interface JournalReaderOptions {
  readonly files: FileLayer;
  readonly segments: SegmentList;
  readonly onDamage: OnJournalDamage;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly file: LogFile;
  sequence: RecordSequence;
  /** Offset in the file of the next line. */
  position: number;
  /** The record there was found by what it claims, and is not checked yet. */
  sought: boolean;
  /** A place in the file whose line number is known. */
  numbered: { readonly start: number; readonly line: number };
}

/** Reads on from an offset, as far as the journal is on the disk. One call at a time. */
export class JournalReader {
  readonly #options: JournalReaderOptions;
  #at: number;
  #begun = false;
  #open: OpenSegment | undefined;

  /** @param from an offset; where the journal begins behind it, reading begins there. */
  constructor(from: number, options: JournalReaderOptions) {
    this.#options = options;
    this.#at = from;
  }

  /** The offset to be read next. */
  get at(): number {
    return this.#at;
  }

  /**
   * Reads at least up to the offset `goal`, which is on the disk. At most {@link BATCH_LINES} and
   * little more than {@link BATCH_BYTES} are in memory at a time.
   *
   * @throws JournalDamageError where no `onDamage` is given; Error when a checkpoint removed what
   *   was to be read.
   */
  async *upTo(goal: number): AsyncGenerator<readonly LogLine[], void, void> {
    if (!this.#begun) this.#at = Math.max(this.#at, this.#options.segments.first);
    this.#begun = true;
    while (this.#at < goal) {
      const open = await this.#openSegment();
      const { end, size } = open.segment;
      yield* this.#batches(open, size);
      await this.#report(open, open.sequence.end(open.position, end));
      this.#at = Math.max(this.#at, end);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close();
  }

  async *#batches(open: OpenSegment, size: number): AsyncGenerator<readonly LogLine[], void, void> {
    let batch: LogLine[] = [];
    let bytes = 0;
    for await (const lines of fileLineBatches(open.file, open.position, size)) {
      for (const line of lines) {
        const { fault, record } = open.sequence.take(line.start, recordOf(line));
        if (fault !== undefined) {
          if (open.sought) {
            startOver(open);
            return yield* this.#batches(open, size);
          }
          await this.#report(open, fault);
        }
        open.sought = false;
        open.position = line.end;
        if (record === undefined || record.next <= this.#at) continue;
        this.#at = record.next;
        if (record.line === undefined) continue;
        batch.push(record.line);
        bytes += line.end - line.start;
        if (batch.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
        yield batch;
        batch = [];
        bytes = 0;
      }
      if (batch.length > 0) yield batch;
      batch = [];
      bytes = 0;
    }
  }

  async #openSegment(): Promise<OpenSegment> {
    const { files, segments } = this.#options;
    const segment = segments.at(this.#at);
    if (this.#open !== undefined && this.#open.segment === segment) return this.#open;
    await this.close();
    const file =
      segment === undefined || segment.first > this.#at
        ? undefined
        : await files.open(segment.path, "read");
    if (segment === undefined || file === undefined) {
      throw new Error(`offset ${this.#at}: a checkpoint removed it while it was to be read`);
    }
    const open = {
      segment,
      file,
      sequence: new RecordSequence(segment.first),
      position: 0,
      sought: false,
      numbered: { start: 0, line: 1 },
    };
    this.#open = open;
    if (this.#at === segment.first) return open;
    const start = await seekRecord(file, segment, this.#at);
    return Object.assign(open, {
      sequence: new RecordSequence(start.offset),
      position: start.position,
      sought: true,
    });
  }

  async #report(open: OpenSegment, fault: Fault | undefined): Promise<void> {
    if (fault === undefined) return;
    const { expected, found, start } = fault;
    let { line } = open.numbered;
    // Counted only now: offsets do not tell where lines are missing.
    for await (const lines of fileLineBatches(open.file, open.numbered.start, start)) {
      line += lines.filter(({ ended }) => ended).length;
    }
    open.numbered = { start, line };
    this.#options.onDamage({ file: open.segment.path, line, expected, found });
  }
}

function startOver(open: OpenSegment): void {
  open.sequence = new RecordSequence(open.segment.first);
  open.position = 0;
  open.sought = false;
}

/** Where a record seems to begin. */
interface RecordStart {
  readonly position: number;
  readonly offset: number;
}

/** Bytes looked at in one step. */
const PROBE = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Looks for a record near before that of an offset, by halves of the file: nothing is kept in memory
 * for it, and a long segment costs some ten reads. What is found is only what the records claim: the
 * caller checks the one there.
 */
async function seekRecord(file: LogFile, segment: Segment, offset: number): Promise<RecordStart> {
  let low: RecordStart = { position: 0, offset: segment.first };
  let high = segment.size;
  const buffer = Buffer.allocUnsafe(PROBE);
  while (high - low.position > 2 * PROBE) {
    const middle = Math.floor((low.position + high) / 2);
    const came = await file.read(buffer, middle);
    const start = buffer.subarray(0, came).indexOf(NEWLINE) + 1;
    const claimed = start > 0 ? claimedOffset(buffer.subarray(start, came)) : undefined;
    if (claimed !== undefined && claimed > low.offset && claimed <= offset) {
      low = { position: middle + start, offset: claimed };
    } else {
      high = middle;
    }
  }
  return low;
}
