import { setImmediate as othersTurn } from "node:timers/promises";
import { splitLines } from "../../replay/door.ts";
import type { LineChecker, LineVerdict } from "./check-line.ts";
import type { EventGate } from "./event-gate.ts";
import type { HeldBytes } from "./held-body.ts";
import type { IngestLimits } from "./ingest-limits.ts";
import type { LineOutcomes } from "./line-outcomes.ts";
import { LineWriter, PLAIN } from "./line-outcomes.ts";
import { Refusal } from "./refusal.ts";
import type { RequestBody } from "./request-body.ts";
import { type BodyEncoding, bodyText } from "./request-body.ts";
import type { TokenBucket } from "./tokens/access.ts";

interface EventBody {
  readonly body: RequestBody;
  readonly encoding: BodyEncoding;
  readonly checker: LineChecker;
  readonly bucket: TokenBucket | undefined;
  /** Memory for compressed bytes that wait for their checksum. */
  readonly held: HeldBytes;
  /** Called with the number of bytes of each piece of text. */
  readonly onText: (bytes: number) => void;
}

/**
 * Accepts the events of one body, line by line. Each result goes to `outcomes`. A line without a result was not stored.
 *
 * @throws Refusal if the body is not read to its end. Lines before that are stored. SenderGone if the sender left.
 *   Lines that are not in the journal by then are dropped, since the sender will send them again.
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
    // Duplicates cost no tokens. A sender that was over its rate and sends all lines again would otherwise never get
    // past the first ones.
    if (bucket !== undefined && good !== undefined && gate.knows(good)) {
      outcomes.set(number, PLAIN.duplicate);
      return undefined;
    }
    bucket?.take(performance.now());
    if (good !== undefined) return writer.add(good);
    outcomes.set(number, outcome);
    return undefined;
  };
  const settleLeading = async () => {
    for (const { number, text } of leading.release()) {
      await settle(number, checker.check(text, number));
    }
  };
  const { maxBodyBytes: maxBytes } = limits;
  const text = bodyText(body.chunks(), { encoding, maxBytes, held, onBytes: onText });
  gate.senders += 1;
  try {
    // A body of blank lines has no parts, but still costs time.
    const onLines = (ended: number) => {
      if (ended > limits.maxLines) throw tooMany(limits.maxLines);
    };
    for await (const parts of splitLines(text, limits, onLines)) {
      // Decompressing does not check the connection.
      body.throwIfStopped();
      for (const part of parts) {
        if (part.line > limits.maxLines) throw tooMany(limits.maxLines);
        if (part.oversized && !part.last) continue;
        turn += Math.min(gate.senders, MOST_SHARES);
        if (turn >= LINES_A_TURN) {
          turn = 0;
          await othersTurn();
        }
        // Checked before the line is read, so that refused lines cost little.
        if (bucket?.hasRoom(performance.now()) === false) throw tooFast(bucket);
        const line = part.oversized ? undefined : part.text;
        if (line === undefined) {
          const outcome = part.oversized ? tooLong(limits.maxLineBytes) : NOT_UTF8;
          await settle(part.line, { outcome });
          continue;
        }
        const verdict = checker.check(line, part.line);
        if (verdict.undecided === true && leading.hold(part.line, line)) continue;
        // The dialect is known now, or too many lines wait for it.
        const decided = verdict.good !== undefined || verdict.undecided === true;
        if (decided && leading.waits) await settleLeading();
        const busy = settle(part.line, verdict);
        if (busy !== undefined) await busy;
      }
    }
    await settleLeading();
    await writer.end();
  } catch (error) {
    // Lines before the limit are stored. If the journal failed, this fails with the same error.
    if (error instanceof Refusal) await writer.end();
    throw error;
  } finally {
    gate.senders -= 1;
    writer.drop();
    body.close();
    // A pending write is stored even if the sender left, so it is counted.
    await writer.idle();
  }
}

/**
 * Lines between two pauses for other work: about a millisecond. A few senders share them: fewer than are played in
 * between, so that the processor keeps up.
 */
const LINES_A_TURN = 128;
/** Many senders may be idle, so each has a quarter at least. */
const MOST_SHARES = 4;

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

/** Maximum number of lines that wait for one with a recognised dialect, as in a recording. */
const MOST_LINES = 32;
/** Maximum length of their texts together, in UTF-16 units: the same as of one group. */
const MOST_TEXT = 256 * 1024;

interface HeldLine {
  /** Number in the body, from 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * First lines of a body that no dialect recognises, for example events of an unknown type. They belong to the dialect
 * of the first recognised line.
 */
class LeadingLines {
  #held: HeldLine[] = [];
  #room = MOST_TEXT;

  get waits(): boolean {
    return this.#held.length > 0;
  }

  /** @returns whether there was room. */
  hold(number: number, text: string): boolean {
    if (this.#held.length === MOST_LINES || text.length > this.#room) return false;
    this.#held.push({ number, text });
    this.#room -= text.length;
    return true;
  }

  /** Removes and returns the held lines, in order. */
  release(): readonly HeldLine[] {
    const held = this.#held;
    this.#held = [];
    this.#room = MOST_TEXT;
    return held;
  }
}
