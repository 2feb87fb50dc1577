import type { DecodeIssue } from "../../dialects/dialect.ts";
import type { LogLine } from "../../ingest/journal/log-line.ts";
import type { Retry } from "../../otel/export/retry.ts";
import { MOST_BYTES } from "../../otel/service/rough-bytes.ts";
import type { Work } from "../../otel/service/work.ts";
import type { LaneOptions } from "./lane-options.ts";

/** Letters that may be on their way before more lines are taken. */
const MOST = 256;

/** Lines that are rejected, on their way to whoever keeps them. */
export class DeadLetters {
  /** Letters on their way. */
  count = 0;
  /** Letters that were kept. */
  done = 0;
  #characters = 0;
  readonly #onRejected: LaneOptions["onRejected"];
  readonly #work: Work;
  readonly #retry: Retry;
  readonly #onDone: () => void;

  /** @param onDone told when a letter has been kept. */
  constructor(onRejected: LaneOptions["onRejected"], work: Work, retry: Retry, onDone: () => void) {
    this.#onRejected = onRejected;
    this.#work = work;
    this.#retry = retry;
    this.#onDone = onDone;
  }

  /** Whether no more lines should be taken until some letters are kept. */
  get full(): boolean {
    return this.count >= MOST || this.#characters >= MOST_BYTES;
  }

  add(line: LogLine, issues: readonly DecodeIssue[]): void {
    const shift = this.#work.begin();
    const { length } = line.text;
    this.count++;
    this.#characters += length;
    const kept = this.#retry.until(async () => this.#onRejected(line, issues));
    void kept.then(
      () => {
        this.count--;
        this.done++;
        this.#characters -= length;
        shift.end();
        this.#onDone();
      },
      // Closed: whoever goes on comes to the line again.
      () => {},
    );
  }
}
