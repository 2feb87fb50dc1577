import type { FileLine } from "../../audit/door.ts";
import { type JournalRecord, readRecord } from "./record.ts";

/** A position in a segment with an unexpected content. */
export interface Fault {
  /** Position of the line in the file. */
  readonly start: number;
  readonly expected: string;
  readonly found: string;
}

export interface Verdict {
  /** The record, if it may follow here. */
  readonly record: JournalRecord | undefined;
  /** Set if a damaged range begins with the line, or records are missing before it. */
  readonly fault: Fault | undefined;
}

/** @returns the record of a line, or a description of its content. */
export function recordOf(line: FileLine): JournalRecord | string {
  if (line.tooLong) return "a line too long to be a record";
  if (!line.ended) return "a line without its end";
  return readRecord(line.bytes);
}

/**
 * Checks that lines are records with consecutive offsets. Successive bad lines are one damaged range with one fault.
 */
export class RecordSequence {
  #next: number;
  #isDamaged = false;

  /** @param next the first expected offset. */
  constructor(next: number) {
    this.#next = next;
  }

  /** The next expected offset. */
  get next(): number {
    return this.#next;
  }

  /**
   * @param start position of the line in the file.
   * @param found the result of {@link recordOf}.
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
   * Checks that no record is missing before the offset `end`.
   *
   * @returns a fault if records are missing, unless a damaged range was reported already.
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
