import { toUSVString } from "node:util";
import type { CheckedLine, EventGate } from "./event-gate.ts";

/** What became of one line. */
export type LineOutcome =
  | {
      readonly status: "accepted";
      /** Its type, where this version does not know it: the line is kept all the same. */
      readonly unknownType?: string;
    }
  | { readonly status: "duplicate" }
  | { readonly status: "rejected"; readonly field: string; readonly expected: string };

export type LineStatus = LineOutcome["status"];

/** Different reasons that are told in one answer; a fault that all lines share is one. */
export const MOST_REASONS = 1000;
/** Length of a reason's texts, in UTF-16 units; what is longer is cut. */
const MOST_TEXT = 300;
/** Results that are written as one piece. */
const LINES_A_PIECE = 1000;

const NOTHING = 0;
const ACCEPTED: LineOutcome = { status: "accepted" };
const REJECTED: LineOutcome = {
  status: "rejected",
  field: "line",
  expected: `what is told of others: an answer has at most ${MOST_REASONS} different reasons`,
};

/** The outcomes of one body, two bytes a line, with each different reason once. */
export class LineOutcomes {
  /** Accepted lines of types that this version does not know. */
  unknown = 0;
  /** By number of the line, less 1. */
  #codes = new Uint16Array(256);
  #used = 0;
  readonly #counts = { accepted: 0, duplicate: 0, rejected: 0 };
  /** The JSON of each code, without the number of the line; the code is its index. */
  readonly #texts: string[] = [""];
  readonly #known = new Map<string, number>();

  get counts(): Readonly<Record<LineStatus, number>> {
    return this.#counts;
  }

  /** @param line its number in the body, from 1; each line once. */
  set(line: number, outcome: LineOutcome): void {
    const at = line - 1;
    if (at >= this.#codes.length) {
      const longer = new Uint16Array(Math.max(line, this.#codes.length * 2));
      longer.set(this.#codes);
      this.#codes = longer;
    }
    this.#codes[at] = this.#codeOf(outcome);
    this.#used = Math.max(this.#used, line);
    this.#counts[outcome.status] += 1;
    if (outcome.status === "accepted" && outcome.unknownType !== undefined) this.unknown += 1;
  }

  /** The answer's JSON in pieces; the same each time. @param error what ended it early, as JSON. */
  *json(error?: string): Generator<string, void, undefined> {
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
    // The status stays right; what is lost is a detail.
    const plain = textOf(
      outcome.status === "rejected" ? REJECTED : { ...ACCEPTED, status: outcome.status },
    );
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

/** Half a surrogate pair, as a line may have it or a cut may leave it, would make the answer unreadable to many. */
function json(text: string): string {
  const short = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text;
  return JSON.stringify(toUSVString(short));
}

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
