import { createGunzip } from "node:zlib";
import type { HeldBytes } from "./held-body.ts";
import { BLOCK_BYTES, HeldBody } from "./held-body.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** Size of the pieces that come out, in bytes. */
const INFLATED_CHUNK = 256 * 1024;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

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
    if (bytes > INFLATED_CHUNK) short = undefined;
    short?.push(chunk);
  }
  return short;
}

async function* inflated(blocks: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK });
  // They are in memory already: nothing is won by waiting for room.
  for (const block of blocks) gunzip.write(block);
  gunzip.end();
  try {
    for await (const chunk of gunzip) {
      if (chunk instanceof Buffer) yield chunk;
    }
  } catch (error) {
    throw isZlibError(error) ? damaged(error.message) : error;
  }
  // Node stops in silence at a zero behind a member, whatever stands behind that: another member, say,
  // whose first byte was damaged.
  if (!onlyZeros(blocks, gunzip.bytesWritten)) throw damaged("other bytes stand behind its end");
}

/** Whether nothing but zeros comes from the byte at `from` on. */
function onlyZeros(blocks: readonly Buffer[], from: number): boolean {
  let start = from;
  for (const block of blocks) {
    const rest = block.subarray(Math.max(0, start));
    if (!rest.equals(ZEROS.subarray(0, rest.length))) return false;
    start -= block.length;
  }
  return true;
}

function damaged(message: string): Refusal {
  return new Refusal("encoding", `expected whole gzip data (${message}); no line was taken`);
}

function isZlibError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("Z_")
  );
}
