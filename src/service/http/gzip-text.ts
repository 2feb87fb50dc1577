import { GzipError, gunzipped } from "../../replay/door.ts";
import { HeldBody, type HeldBytes } from "./held-body.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** Longest text that is kept after the check, in bytes. */
const SHORT_BYTES = 256 * 1024;

/**
 * The text of a gzip body of any number of members. Zeros behind the last one are ignored. Gives no text before the
 * last checksum was verified, because a body with a flipped bit may decompress to other lines.
 *
 * The compressed bytes wait in memory, since the text may be a thousand times as long. A body is therefore decompressed
 * twice: for the checksums, and for the lines. This costs up to 10 % more CPU for each line, mostly off the main
 * thread. Short texts are kept from the first time.
 *
 * @param maxBytes maximum length of the text.
 * @throws Refusal `encoding` if the data is damaged or truncated, `body_size` if the text is too long, `memory` if
 *   there is no room to wait; the errors of the source.
 */
export async function* gzipText(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  held: HeldBytes,
): AsyncGenerator<Buffer, void, undefined> {
  const body = new HeldBody(held);
  try {
    for await (const piece of source) body.add(piece);
    const short = await checked(body.blocks, maxBytes);
    if (short === undefined) yield* inflated(body.blocks);
    else yield* short;
  } finally {
    body.release();
  }
}

/** @returns the text, if it is short. */
async function checked(
  blocks: readonly Buffer[],
  maxBytes: number,
): Promise<readonly Buffer[] | undefined> {
  let bytes = 0;
  let short: Buffer[] | undefined = [];
  for await (const chunk of inflated(blocks)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
    if (bytes > SHORT_BYTES) short = undefined;
    short?.push(chunk);
  }
  return short;
}

async function* inflated(blocks: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* gunzipped(blocks);
  } catch (error) {
    if (!(error instanceof GzipError)) throw error;
    throw new Refusal(
      "encoding",
      `expected intact gzip data (${error.message}); no line was stored`,
    );
  }
}
