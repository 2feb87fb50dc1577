import type { DecodeIssue } from "../../../src/entries/replay.ts";
import type { LogLine } from "../../../src/service/journal/log-line.ts";
import type { LineTaker, Reject } from "../../../src/service/kafka/partition-processor.ts";
import { NO_FIGURES } from "./processor-figures.ts";

const ISSUES: readonly DecodeIssue[] = [{ field: "type", expected: "an event" }];

/** Takes one text alone, rejects all others, and has stored a line at once. */
export class LineKeeper implements LineTaker {
  readonly figures = NO_FIGURES;
  readonly #text: string;
  readonly #played: number[];
  readonly #reject: Reject;
  #next = 0;

  /** @param played gets the offset of each line that is taken. */
  constructor(text: string, played: number[], reject: Reject) {
    this.#text = text;
    this.#played = played;
    this.#reject = reject;
  }

  take(line: LogLine) {
    this.#next = line.offset + 1;
    if (line.text === this.#text) this.#played.push(line.offset);
    else void this.#reject(line, ISSUES);
    return undefined;
  }

  async idle() {}

  async settle() {
    return this.#next;
  }

  async close() {}
}
