import type { DecodeIssue } from "../../dialects/dialect.ts";
import type { LogLine } from "../../ingest/journal/log-line.ts";
import type { Retry } from "../../otel/export/retry.ts";
import { type InFlightSet, MOST_BYTES } from "../../otel/service/in-flight-set.ts";
import type { LogProcessorOptions } from "./log-processor-options.ts";

/** Rejected lines that may be under way before more lines are taken. */
const MOST = 256;

/** Passes rejected lines on to `onRejected`, until each is stored. */
export class RejectedLines {
  /** Lines under way. */
  count = 0;
  /** Lines that were stored. */
  done = 0;
  #characters = 0;
  readonly #onRejected: LogProcessorOptions["onRejected"];
  readonly #inFlight: InFlightSet;
  readonly #retry: Retry;
  readonly #onDone: () => void;

  /** @param onDone called when a line has been stored. */
  constructor(
    onRejected: LogProcessorOptions["onRejected"],
    inFlight: InFlightSet,
    retry: Retry,
    onDone: () => void,
  ) {
    this.#onRejected = onRejected;
    this.#inFlight = inFlight;
    this.#retry = retry;
    this.#onDone = onDone;
  }

  /** Whether no more lines should be taken until some rejected ones are stored. */
  get full(): boolean {
    return this.count >= MOST || this.#characters >= MOST_BYTES;
  }

  add(line: LogLine, issues: readonly DecodeIssue[]): void {
    const epoch = this.#inFlight.begin();
    const { length } = line.text;
    this.count++;
    this.#characters += length;
    const stored = this.#retry.until(async () => this.#onRejected(line, issues));
    void stored.then(
      () => {
        this.count--;
        this.done++;
        this.#characters -= length;
        epoch.end();
        this.#onDone();
      },
      // Closed: whoever goes on comes to the line again.
      () => {},
    );
  }
}
