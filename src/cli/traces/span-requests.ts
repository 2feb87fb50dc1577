import type { ByteSource, NdjsonLine, OversizedPart } from "../../replay/door.ts";
import { LinesOfValues, opensValue, splitLines, textBytes } from "../../replay/door.ts";
import { type Fields, MAX_REQUEST_BYTES, traceRequestIn } from "./otlp-spans.ts";

/** A line of a file of spans, or a part of a line that is too long. */
export interface RequestLine {
  readonly part: NdjsonLine | OversizedPart;
  /** The request; `undefined` if the line has none. */
  readonly request: Fields | undefined;
  /**
   * The expectation that a line without a request does not meet. `undefined` until the last part of a long line, and for
   * the further lines of a request over several lines.
   */
  readonly expected: string | undefined;
}

/**
 * Reads a file of spans: OTLP/JSON lines, from `view --listen --save`, `replay --out` or the collector's file exporter.
 *
 * @param chunks UTF-8 text, as from `textBytes`.
 * @throws the errors of the source.
 */
export async function* requestLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<RequestLine, void, undefined> {
  const values = new LinesOfValues();
  for await (const batch of splitLines(chunks, { maxLineBytes: MAX_REQUEST_BYTES })) {
    for (const part of batch) {
      if (part.oversized) {
        const expected = part.last ? TOO_LONG : undefined;
        yield { part, request: undefined, expected };
        continue;
      }
      const { text } = part;
      const found = text === undefined ? undefined : traceRequestIn(text);
      const isPart = values.continues(text ?? "", found !== undefined);
      const request = isPart ? undefined : found;
      yield { part, request, expected: isPart || found ? undefined : expectedOf(text) };
    }
  }
}

function expectedOf(text = ""): string {
  return opensValue(text) ? `${EXPECTED} (jq -c . writes it so)` : EXPECTED;
}

const EXPECTED = "an ExportTraceServiceRequest in JSON on one line";
const TOO_LONG = `at most ${MAX_REQUEST_BYTES} bytes on one line`;

/** Bytes that are enough to find out what a source contains. */
export const BEGINNING_BYTES = 64 * 1024;

/** The beginning of a line with spans, also behind a damaged line. */
const SPANS = /^[ \t]*\{\s*"resourceSpans"\s*:/m;

/** A source whose beginning was read. */
interface BegunSource {
  /** Whether it has spans. Other sources have events. */
  readonly isSpans: boolean;
  /** The complete text, decompressed. It has the errors of the source. */
  readonly text: AsyncGenerator<Buffer, void, undefined>;
}

/** Finds out from its beginning whether a source has spans or events. Nothing of it is lost. */
export async function begun(source: ByteSource): Promise<BegunSource> {
  const text = textBytes(source);
  let beginning = Buffer.alloc(0);
  let rest: AsyncIterable<Buffer> = text;
  try {
    // A pipe can give its first bytes long before its next ones, so a few that are not blank are enough.
    while (beginning.toString("latin1").trimStart().length < FEW) {
      const next = await text.next();
      if (next.done === true) break;
      beginning = Buffer.concat([beginning, next.value]);
      if (beginning.length >= BEGINNING_BYTES) break;
    }
  } catch (error) {
    rest = failing(error);
  }
  const isSpans = SPANS.test(beginning.toString("utf8", 0, BEGINNING_BYTES));
  return { isSpans, text: joined(beginning, text, rest) };
}

/** Enough for `{"resourceSpans":` with some white space. */
const FEW = 32;

async function* joined(
  beginning: Buffer,
  text: AsyncGenerator<Buffer, void, undefined>,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (beginning.length > 0) yield beginning;
    yield* rest;
  } finally {
    await text.return();
  }
}

// biome-ignore lint/correctness/useYield: it only fails.
async function* failing(error: unknown): AsyncGenerator<Buffer, void, undefined> {
  throw error;
}
