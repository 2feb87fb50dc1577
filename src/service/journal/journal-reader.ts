import { type FileLayer, fileLineBatches, type LogFile } from "../../audit/door.ts";
import type { OnJournalDamage } from "./journal-damage.ts";
import type { LogLine } from "./log-line.ts";
import { claimedOffset } from "./record.ts";
import { type Fault, RecordSequence, recordOf } from "./record-sequence.ts";
import type { Segment, SegmentList } from "./segment-list.ts";

/** Maximum number of lines in a batch. */
export const BATCH_LINES = 1000;
/** A batch ends with the line that reaches this many bytes. */
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
  /** Position in the file of the next line. */
  position: number;
  /** Whether the record there was found by search, and is not checked yet. */
  sought: boolean;
  /** A position in the file with a known line number. */
  numbered: { readonly start: number; readonly line: number };
}

/** Reads from an offset to the end of the journal. One call at a time. */
export class JournalReader {
  readonly #options: JournalReaderOptions;
  #at: number;
  #begun = false;
  #open: OpenSegment | undefined;

  /** @param from an offset. If the journal begins later, reading begins there. */
  constructor(from: number, options: JournalReaderOptions) {
    this.#options = options;
    this.#at = from;
  }

  /** The next offset to read. */
  get at(): number {
    return this.#at;
  }

  /**
   * Reads at least up to the offset `goal`, which must be on the disk. At most {@link BATCH_LINES} lines and little
   * more than {@link BATCH_BYTES} are in memory at a time.
   *
   * @throws JournalDamageError without `onDamage`; Error if a checkpoint removed lines before they were read.
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
    // Counted only now: line numbers don't follow from offsets where lines are missing.
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

/** A possible start of a record. */
interface RecordStart {
  readonly position: number;
  readonly offset: number;
}

/** Bytes read in one step. */
const PROBE = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Finds a record shortly before an offset by binary search: no index is kept in memory, and a long segment takes about
 * ten reads. The result only relies on the text of the records. The caller must check it.
 */
async function seekRecord(file: LogFile, segment: Segment, offset: number): Promise<RecordStart> {
  let low: RecordStart = { position: 0, offset: segment.first };
  let high = segment.size;
  const buffer = Buffer.allocUnsafe(PROBE);
  while (high - low.position > 2 * PROBE) {
    const middle = Math.floor((low.position + high) / 2);
    const length = await file.read(buffer, middle);
    const start = buffer.subarray(0, length).indexOf(NEWLINE) + 1;
    const claimed = start > 0 ? claimedOffset(buffer.subarray(start, length)) : undefined;
    if (claimed !== undefined && claimed > low.offset && claimed <= offset) {
      low = { position: middle + start, offset: claimed };
    } else {
      high = middle;
    }
  }
  return low;
}
