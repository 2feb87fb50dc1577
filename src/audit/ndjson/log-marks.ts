import type { LogLine, LogMark } from "./log-line.ts";

/** What the marks of a log say, its lines taken one after the other. */
export class LogMarks {
  #last: LogMark | undefined;
  #closed = false;
  #reopenings = 0;

  /**
   * The last thing said: a segment's header says that the log is open, as an open mark does. Nothing in a log of
   * version 1, which has no marks.
   */
  get last(): LogMark | undefined {
    return this.#last;
  }

  /** The last line is a close mark. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Open marks in a log that was not closed before: its writer had crashed, or its end had been cut off. */
  get reopenings(): number {
    return this.#reopenings;
  }

  take(line: LogLine): void {
    const wasClosed = this.#closed;
    this.#closed = false;
    if (line.type === "invalid") return;
    if (line.type === "header") {
      if (line.version > 1) this.#last = "open";
      return;
    }
    const mark = line.type === "commit" ? line.mark : undefined;
    if (mark === "open" && this.#last === "open") this.#reopenings += 1;
    this.#closed = mark === "closed";
    // Lines that somebody added to a closed log are no part of what was closed.
    if (mark !== undefined || wasClosed) this.#last = mark ?? "open";
  }
}
