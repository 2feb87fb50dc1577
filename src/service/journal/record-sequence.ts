import type { FileLine } from "../../audit/door.ts";
import { type JournalRecord, readRecord } from "./record.ts";

/** A place in a segment where something else should stand. */
export interface Fault {
  /** Offset in the file of the line. */
  readonly start: number;
  readonly expected: string;
  readonly found: string;
}

export interface Verdict {
  /** The record, if it may follow here. */
  readonly record: JournalRecord | undefined;
  /** A damaged place begins with the line, or records are missing before it. */
  readonly fault: Fault | undefined;
}

/** @returns the record of a line, or what is there instead. */
export function recordOf(line: FileLine): JournalRecord | string {
  if (line.tooLong) return "a line too long to be a record";
  if (!line.ended) return "a line without its end";
  return readRecord(line.bytes);
}

/**
 * Checks that lines are records and that no offset is missing, from one record to the next. Bad lines
 * with none between them that may follow are one damaged place, and have one fault.
 */
export class RecordSequence {
  #next: number;
  #isDamaged = false;

  /** @param next the offset that must come first. */
  constructor(next: number) {
    this.#next = next;
  }

  /** The offset that must come next. */
  get next(): number {
    return this.#next;
  }

  /**
   * @param start offset in the file of the line.
   * @param found what {@link recordOf} gives for it.
   */
  take(start: number, found: JournalRecord | string): Verdict {
    if (typeof found === "string" || found.offset < this.#next) {
      const instead = typeof found === "string" ? found : `offset ${found.offset}`;
      const fault = this.#isDamaged ? undefined : this.#fault(start, instead);
      this.#isDamaged = true;
      return { record: undefined, fault };
    }
    const fault = this.#gap(start, found.offset, `offset ${found.offset}`);
    this.#next = found.next;
    this.#isDamaged = false;
    return { record: found, fault };
  }

  /**
   * Nothing more comes before the offset `end`.
   *
   * @returns a fault when records are missing and no damaged place has said so.
   */
  end(start: number, end: number): Fault | undefined {
    return this.#gap(start, end, "the end of the file");
  }

  #gap(start: number, offset: number, found: string): Fault | undefined {
    return offset <= this.#next || this.#isDamaged ? undefined : this.#fault(start, found);
  }

  #fault(start: number, found: string): Fault {
    return { start, expected: `the record of offset ${this.#next}`, found };
  }
}
