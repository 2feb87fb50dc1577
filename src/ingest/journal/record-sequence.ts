import type { FileLine } from "../../storage/file-lines.ts";
import { type JournalRecord, readRecord } from "./record.ts";

/** A place in a segment where something else should stand. */
export interface Fault {
  /** Offset in the file of the line. */
  readonly start: number;
  readonly expected: string;
  readonly found: string;
}

export interface Verdict {
  /** The record, if the line is one that may follow here. */
  readonly record: JournalRecord | undefined;
  readonly fault: Fault | undefined;
  /** It is a record of an offset from the limit on, which is not for this sequence. */
  readonly isBeyond: boolean;
}

/** Checks that lines are records and that no offset is missing, from one record to the next. */
export class RecordSequence {
  readonly #limit: number;
  #next: number;
  /** Bad lines since the last record: so many offsets may be missing for their sake. */
  #bad = 0;

  /**
   * @param next the offset that must come first.
   * @param limit the first offset that must not come. Default: any may.
   */
  constructor(next: number, limit = Number.POSITIVE_INFINITY) {
    this.#next = next;
    this.#limit = limit;
  }

  take(line: FileLine): Verdict {
    const found = this.#read(line);
    if (typeof found === "string") {
      const fault = this.#fault(line.start, found);
      this.#bad += 1;
      return { record: undefined, fault, isBeyond: false };
    }
    const { offset } = found.line;
    if (offset >= this.#limit) return { record: undefined, fault: undefined, isBeyond: true };
    if (offset < this.#next) {
      const fault = this.#fault(line.start, `offset ${offset}`);
      return { record: undefined, fault, isBeyond: false };
    }
    const fault = this.#gap(line.start, offset, `offset ${offset}`);
    this.#next = offset + 1;
    this.#bad = 0;
    return { record: found, fault, isBeyond: false };
  }

  /**
   * Nothing more comes before the offset `end`.
   *
   * @returns a fault when records are missing and no bad line has said so.
   */
  end(start: number, end: number): Fault | undefined {
    const fault = this.#gap(start, end, "the end of the file");
    this.#next = Math.max(this.#next, end);
    this.#bad = 0;
    return fault;
  }

  #read(line: FileLine): JournalRecord | string {
    if (line.tooLong) return "a line too long to be a record";
    if (!line.ended) return "a line without its end";
    return readRecord(line.bytes);
  }

  #gap(start: number, offset: number, found: string): Fault | undefined {
    return offset - this.#next <= this.#bad ? undefined : this.#fault(start, found);
  }

  #fault(start: number, found: string): Fault {
    return { start, expected: `the record of offset ${this.#next + this.#bad}`, found };
  }
}
