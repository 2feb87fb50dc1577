import { setImmediate as othersTurn } from "node:timers/promises";
import { splitLines } from "../../replay/door.ts";
import type { LineChecker, LineVerdict } from "./check-line.ts";
import type { EventGate } from "./event-gate.ts";
import type { HeldBytes } from "./held-body.ts";
import type { IngestLimits } from "./ingest-limits.ts";
import type { LineOutcomes } from "./line-outcomes.ts";
import { LineWriter } from "./line-outcomes.ts";
import { Refusal } from "./refusal.ts";
import type { RequestBody } from "./request-body.ts";
import { type BodyEncoding, bodyText } from "./request-body.ts";
import type { TokenBucket } from "./tokens/access.ts";

interface EventBody {
  readonly body: RequestBody;
  readonly encoding: BodyEncoding;
  readonly checker: LineChecker;
  readonly bucket: TokenBucket | undefined;
  /** Where its compressed bytes wait for their checksum. */
  readonly held: HeldBytes;
  /** Told of the bytes of text as they are read. */
  readonly onText: (bytes: number) => void;
}

/**
 * Takes the events of one body, line by line as they come. What became of each line goes to
 * `outcomes`; a line without an outcome was not taken.
 *
 * @throws Refusal where the body is not read to its end: what was read before it is taken all the
 * same. SenderGone when the sender left: then what was not in the journal yet is not taken, since it
 * will be sent again.
 */
export async function takeEvents(
  { body, encoding, checker, bucket, held, onText }: EventBody,
  gate: EventGate,
  limits: IngestLimits,
  outcomes: LineOutcomes,
): Promise<void> {
  const writer = new LineWriter(gate, outcomes);
  const leading = new LeadingLines();
  let turn = 0;
  const settle = (number: number, { good, outcome }: LineVerdict) => {
    // Who was refused at the rate and sends all again would else pay for the same lines each time, and
    // never get past them.
    if (bucket !== undefined && good !== undefined && gate.knows(good)) {
      outcomes.set(number, DUPLICATE);
      return undefined;
    }
    bucket?.take(performance.now());
    if (good !== undefined) return writer.add({ ...good, number });
    outcomes.set(number, outcome);
    return undefined;
  };
  const settleLeading = async () => {
    for (const { number, text } of leading.release()) await settle(number, checker.check(text));
  };
  const { maxBodyBytes: maxBytes } = limits;
  const text = bodyText(body.chunks(), { encoding, maxBytes, held, onBytes: onText });
  try {
    // A body of blank lines has no parts, and costs time all the same.
    const onLines = (ended: number) => {
      if (ended > limits.maxLines) throw tooMany(limits.maxLines);
    };
    for await (const parts of splitLines(text, limits, onLines)) {
      // The text of a gzip body comes without a look at the connection.
      body.throwIfStopped();
      for (const part of parts) {
        if (part.line > limits.maxLines) throw tooMany(limits.maxLines);
        if (part.oversized && !part.last) continue;
        turn += 1;
        if (turn % LINES_A_TURN === 0) await othersTurn();
        // Before it is read: where nothing is left, a line costs no more than that.
        if (bucket?.hasRoom(performance.now()) === false) throw tooFast(bucket);
        const line = part.oversized ? undefined : part.text;
        if (line === undefined) {
          const outcome = part.oversized ? tooLong(limits.maxLineBytes) : NOT_UTF8;
          await settle(part.line, { outcome });
          continue;
        }
        const verdict = checker.check(line);
        if (verdict.undecided === true && leading.hold(part.line, line)) continue;
        // The dialect is told now, or too many wait for it.
        const decided = verdict.good !== undefined || verdict.undecided === true;
        if (decided && leading.waits) await settleLeading();
        const busy = settle(part.line, verdict);
        if (busy !== undefined) await busy;
      }
    }
    await settleLeading();
    await writer.end();
  } catch (error) {
    // What the limit did not strike is taken; where it was the journal itself, this fails as it did.
    if (error instanceof Refusal) await writer.end();
    throw error;
  } finally {
    writer.drop();
    body.close();
    // What is on its way gets into the journal though its sender has gone: it counts.
    await writer.idle();
  }
}

/** So many lines are read before others have their turn: about a millisecond. */
const LINES_A_TURN = 128;

const DUPLICATE = { status: "duplicate" } as const;
const NOT_UTF8 = { status: "rejected", field: "line", expected: "valid UTF-8" } as const;

function tooLong(maxLineBytes: number) {
  return { status: "rejected", field: "line", expected: `at most ${maxLineBytes} bytes` } as const;
}

function tooMany(maxLines: number): Refusal {
  return new Refusal("line_count", `expected at most ${maxLines} lines`);
}

function tooFast(bucket: TokenBucket): Refusal {
  const expected = `expected at most ${bucket.rate} lines a second`;
  return new Refusal("rate", expected, bucket.wait(performance.now()));
}

/** So many lines wait at most for one that tells the dialect, as in a recording. */
const MOST_LINES = 32;
/** The length of their texts together, in UTF-16 units: a connection holds no more of the group it fills. */
const MOST_TEXT = 256 * 1024;

interface HeldLine {
  /** In the body, from 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Lines at the head of a body that no dialect knows for its own, an event of a type that this version
 * does not know, say: they are of the dialect of the first line that tells it.
 */
class LeadingLines {
  #held: HeldLine[] = [];
  #room = MOST_TEXT;

  get waits(): boolean {
    return this.#held.length > 0;
  }

  /** @returns whether there was room for it. */
  hold(number: number, text: string): boolean {
    if (this.#held.length === MOST_LINES || text.length > this.#room) return false;
    this.#held.push({ number, text });
    this.#room -= text.length;
    return true;
  }

  /** Those that are held, in their order; it holds none then. */
  release(): readonly HeldLine[] {
    const held = this.#held;
    this.#held = [];
    this.#room = MOST_TEXT;
    return held;
  }
}
