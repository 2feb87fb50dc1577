import type { CheckedLine, EventGate } from "./event-gate.ts";
import type { LineOutcomes } from "./line-outcomes.ts";

/** A group goes to the journal when it has so many lines, or bytes of text. */
const GROUP_LINES = 512;
const GROUP_BYTES = 256 * 1024;
/** So long a line waits at most for others to go with it, in ms: a slow sender's lines go alone. */
const GROUP_MS = 250;

interface WaitingLine extends CheckedLine {
  readonly number: number;
  readonly unknownType: string | undefined;
}

/** The lines of one body on their way to the journal, in groups: one is written, one is filled. */
export class LineWriter {
  readonly #gate: EventGate;
  readonly #outcomes: LineOutcomes;
  #group: WaitingLine[] = [];
  #bytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(gate: EventGate, outcomes: LineOutcomes) {
    this.#gate = gate;
    this.#outcomes = outcomes;
  }

  /**
   * @returns a promise where the journal has to be waited for: the sender is held back meanwhile.
   * It rejects as {@link EventGate.take} does.
   */
  add(line: WaitingLine): Promise<void> | undefined {
    this.#group.push(line);
    this.#bytes += line.line.text.length;
    if (this.#group.length >= GROUP_LINES || this.#bytes >= GROUP_BYTES) return this.#next();
    this.#timer ??= setTimeout(() => void this.#next(), GROUP_MS);
    return undefined;
  }

  /** Resolves when all is written. Rejects with what kept it from being. */
  async end(): Promise<void> {
    void this.#next();
    await this.#writing;
  }

  /** Resolves when nothing is being written any more, whatever came of it. */
  async idle(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  /** What is not on its way to the journal yet does not go there any more. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#group = [];
  }

  /** Sends the group off behind the one before; the promise is that one's. */
  #next(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#group;
    const before = this.#writing;
    this.#group = [];
    this.#bytes = 0;
    if (group.length > 0) {
      this.#writing = before.then(() => this.#write(group));
      // Whoever adds or ends next hears of it.
      this.#writing.catch(() => {});
    }
    return before;
  }

  #write(group: readonly WaitingLine[]): Promise<void> {
    return this.#gate.take(group, ({ number, unknownType }, status) => {
      if (status === "duplicate" || unknownType === undefined)
        this.#outcomes.set(number, { status });
      else this.#outcomes.set(number, { status, unknownType });
    });
  }
}
