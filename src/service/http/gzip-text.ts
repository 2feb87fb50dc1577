import { GzipError, gunzipped } from "../../replay/door.ts";
import { HeldBody, type HeldBytes } from "./held-body.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** Longest text that is kept from the check of its checksums, in bytes. */
const SHORT_BYTES = 256 * 1024;

/**
 * The text of a gzip body of any number of members, zeros behind them left out. It gives nothing before
 * the last checksum of the last member holds: with one bit flipped on its way a body may decompress to
 * other lines, which must not be taken for what was sent.
 *
 * The compressed bytes wait, not the text, which may be a thousand times as long. So a body is decompressed
 * twice, once for the checksums and once for the lines. That costs 0 to 10 % more CPU a line, most of it off
 * the main thread. A short text is kept from the first time.
 *
 * @param maxBytes longest text.
 * @throws Refusal `encoding` where the data is damaged or cut, `body_size` where the text is too long,
 * `memory` where there is no room to wait; what the source throws.
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

/** @returns the text, where it is no longer than one piece. */
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
    throw new Refusal("encoding", `expected whole gzip data (${error.message}); no line was taken`);
  }
}
