import { toUSVString } from "node:util";
import type { GoodLine } from "./check-line.ts";
import type { EventGate } from "./event-gate.ts";

/** The result of one line. */
export type LineOutcome =
  | {
      readonly status: "accepted";
      /** The line's type, if it is unknown. The line is kept. */
      readonly unknownType?: string;
    }
  | { readonly status: "duplicate" }
  | { readonly status: "rejected"; readonly field: string; readonly expected: string };

export type LineStatus = LineOutcome["status"];

/** Maximum number of different reasons in one answer. Lines with the same reason count once. */
export const MOST_REASONS = 1000;
/** Maximum length of a reason's texts, in UTF-16 units. Longer texts are cut. */
const MOST_TEXT = 300;
/** Number of results in one piece of the answer. */
const LINES_A_PIECE = 1000;

const NOTHING = 0;
/** The outcomes without a text of their own. */
export const PLAIN = {
  accepted: { status: "accepted" },
  duplicate: { status: "duplicate" },
} as const satisfies Readonly<Record<string, LineOutcome>>;
const REJECTED: LineOutcome = {
  status: "rejected",
  field: "line",
  expected: `a valid line; an answer lists at most ${MOST_REASONS} different reasons`,
};

/** The outcomes of one body: two bytes for each line, and each different reason once. */
export class LineOutcomes {
  /** Accepted lines of unknown types. */
  unknown = 0;
  /** By line number minus 1. */
  #codes = new Uint16Array(256);
  #used = 0;
  readonly #counts = { accepted: 0, duplicate: 0, rejected: 0 };
  /** The JSON of each code without the line number. The code is the index. */
  readonly #texts: string[] = [""];
  readonly #known = new Map<string, number>();
  /** The last outcome and its code: most lines have the one object of their status. */
  #last: LineOutcome | undefined;
  #lastCode = NOTHING;

  get counts(): Readonly<Record<LineStatus, number>> {
    return this.#counts;
  }

  /** @param line number of the line in the body, from 1. Set each line once. */
  set(line: number, outcome: LineOutcome): void {
    const at = line - 1;
    if (at >= this.#codes.length) {
      const longer = new Uint16Array(Math.max(line, this.#codes.length * 2));
      longer.set(this.#codes);
      this.#codes = longer;
    }
    if (outcome !== this.#last) this.#lastCode = this.#codeOf(outcome);
    this.#last = outcome;
    this.#codes[at] = this.#lastCode;
    this.#used = Math.max(this.#used, line);
    this.#counts[outcome.status] += 1;
    if (outcome.status === "accepted" && outcome.unknownType !== undefined) this.unknown += 1;
  }

  /**
   * Returns the answer's JSON in pieces, the same on each call. That of few lines is written once, and kept.
   *
   * @param error JSON of the error that ended it early.
   */
  json(error?: string): () => Iterable<string> {
    if (this.#used > LINES_A_PIECE) return () => this.#pieces(error);
    const pieces = [[...this.#pieces(error)].join("")];
    return () => pieces;
  }

  *#pieces(error?: string): Generator<string, void, undefined> {
    const { accepted, duplicate, rejected } = this.#counts;
    const lines = accepted + duplicate + rejected;
    yield `{"lines":${lines},"accepted":${accepted},"duplicate":${duplicate},"rejected":${rejected},"results":[`;
    let piece = "";
    let comma = "";
    for (let at = 0; at < this.#used; at += 1) {
      const code = this.#codes[at] ?? NOTHING;
      if (code !== NOTHING) {
        piece += `${comma}{"line":${at + 1},${this.#texts[code] ?? ""}}`;
        comma = ",";
      }
      if (at % LINES_A_PIECE === LINES_A_PIECE - 1) {
        yield piece;
        piece = "";
      }
    }
    yield error === undefined ? `${piece}]}\n` : `${piece}],"error":${error}}\n`;
  }

  #codeOf(outcome: LineOutcome): number {
    const text = textOf(outcome);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#texts.length <= MOST_REASONS) return this.#add(text);
    // The status stays right. Only the reason is lost.
    const plain = textOf(outcome.status === "rejected" ? REJECTED : PLAIN[outcome.status]);
    return this.#known.get(plain) ?? this.#add(plain);
  }

  #add(text: string): number {
    const code = this.#texts.push(text) - 1;
    this.#known.set(text, code);
    return code;
  }
}

function textOf(outcome: LineOutcome): string {
  const status = `"status":"${outcome.status}"`;
  switch (outcome.status) {
    case "accepted": {
      const { unknownType } = outcome;
      return unknownType === undefined ? status : `${status},"unknown_type":${json(unknownType)}`;
    }
    case "duplicate":
      return status;
    case "rejected":
      return `${status},"field":${json(outcome.field)},"expected":${json(outcome.expected)}`;
    default:
      return outcome satisfies never;
  }
}

/** A lone surrogate, from a line or from cutting, would make the answer invalid for many JSON parsers. */
function json(text: string): string {
  const short = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text;
  return JSON.stringify(toUSVString(short));
}

/** A group goes to the journal when it has this many lines, or bytes of text. */
const GROUP_LINES = 512;
const GROUP_BYTES = 256 * 1024;
/** Lines of all senders that keep their decoded events, in UTF-16 units. Events take several times the memory of the text. */
const MOST_DECODED = 8 * 1024 * 1024;
/** Maximum time that a line waits for others, in ms: lines of slow senders go alone. */
const GROUP_MS = 250;

/** Writes the lines of one body to the journal in groups: one is filled while another is written. */
export class LineWriter {
  readonly #gate: EventGate;
  readonly #outcomes: LineOutcomes;
  #group: GoodLine[] = [];
  #bytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(gate: EventGate, outcomes: LineOutcomes) {
    this.#gate = gate;
    this.#outcomes = outcomes;
  }

  /**
   * @returns a promise if the journal is busy, so that the sender is slowed down. It rejects as {@link EventGate.take}
   *   does.
   */
  add(line: GoodLine): Promise<void> | undefined {
    const { length } = line.line.text;
    const isMuch = this.#gate.collected > MOST_DECODED;
    this.#group.push(isMuch ? { ...line, line: { ...line.line, decoded: undefined } } : line);
    this.#bytes += length;
    this.#gate.collected += length;
    if (this.#group.length >= GROUP_LINES || this.#bytes >= GROUP_BYTES) return this.#next();
    this.#timer ??= setTimeout(() => void this.#next(), GROUP_MS);
    return undefined;
  }

  /** Resolves when all is written. Rejects with the first error. */
  async end(): Promise<void> {
    void this.#next();
    await this.#writing;
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  /** Drops lines that are not being written yet. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#group = [];
    this.#gate.collected -= this.#bytes;
    this.#bytes = 0;
  }

  /** Writes the group after the previous one. Returns the previous one's promise. */
  #next(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#group;
    const length = this.#bytes;
    const before = this.#writing;
    this.#group = [];
    this.#bytes = 0;
    if (group.length > 0) {
      this.#writing = before
        .then(() => this.#write(group))
        .finally(() => {
          this.#gate.collected -= length;
        });
      // The next `add` or `end` reports the error.
      this.#writing.catch(() => {});
    }
    return before;
  }

  #write(group: readonly GoodLine[]): Promise<void> {
    return this.#gate.take(group, ({ number, unknownType }, status) => {
      const isPlain = status === "duplicate" || unknownType === undefined;
      this.#outcomes.set(number, isPlain ? PLAIN[status] : { status, unknownType });
    });
  }
}
