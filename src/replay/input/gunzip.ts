import { createGunzip } from "node:zlib";

/** Size of the decompressed pieces, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Checksum and length behind a member. */
const TRAILER_BYTES = 8;

/** The first two bytes of gzip data. */
export const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** The gzip data is damaged or truncated, or other bytes follow it. */
export class GzipError extends Error {}

/**
 * Decompresses gzip data of any number of members. Zeros behind the last member are ignored. All text of
 * truncated data comes before the error. Up to 256 KiB of text in front of damaged data, or of other bytes behind
 * the last member, may be missing.
 *
 * @param source bytes that start with {@link GZIP_MAGIC}. It is read as fast as the text is.
 * @throws GzipError if the data is damaged or truncated, or other bytes follow it; the errors of `source`.
 */
export async function* gunzipped(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  let failure: GzipError | undefined;
  let isWritten = false;
  let wake = () => {};
  gunzip.on("readable", () => wake());
  gunzip.on("end", () => wake());
  gunzip.on("error", ({ message }) => {
    // Only a second header can be wrong: `source` starts as gzip data does.
    failure = message === "incorrect header check" ? otherBytes() : new GzipError(message);
    wake();
  });

  // A stream that fails drops the text that was not read, so each piece is read before the next is written.
  async function* output(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const chunk: unknown = gunzip.read();
      if (chunk instanceof Buffer) yield chunk;
      else if (failure !== undefined) throw failure;
      else if (isWritten || gunzip.readableEnded) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }

  let bytes = 0;
  try {
    for await (const piece of inParts(source)) {
      bytes += piece.length;
      if (!gunzip.readableEnded) {
        isWritten = false;
        gunzip.write(piece, () => {
          isWritten = true;
          wake();
        });
        yield* output();
      }
      // Node stops at a zero behind a member and ignores the rest.
      const unread = Math.min(piece.length, bytes - gunzip.bytesWritten);
      if (piece.subarray(piece.length - unread).some((byte) => byte !== 0)) throw otherBytes();
    }
    isWritten = false;
    gunzip.end();
    yield* output();
  } finally {
    gunzip.destroy();
  }
}

/** The last bytes of a piece, perhaps a trailer, in a part of their own: a wrong checksum drops no text then. */
async function* inParts(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of source) {
    if (piece.length > TRAILER_BYTES) yield piece.subarray(0, -TRAILER_BYTES);
    if (piece.length > 0) yield piece.subarray(-TRAILER_BYTES);
  }
}

function otherBytes(): GzipError {
  return new GzipError("other bytes stand behind its end");
}
