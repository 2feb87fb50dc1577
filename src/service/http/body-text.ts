import { textBytes } from "../../ingest/byte-source.ts";
import { GZIP_MAGIC } from "../../ingest/gunzip.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** How a body may come. Plain bytes that are gzip by their first two are taken as such too. */
export type BodyEncoding = "gzip" | "identity";

/**
 * The text of a body, decompressed piece by piece: how much comes out is counted as it comes, so that
 * a few bytes that would become many end at the limit.
 *
 * @throws Refusal when the text is longer than `maxBytes`, or the gzip data is damaged; what the
 * source throws.
 */
export async function* bodyText(
  source: AsyncIterable<Buffer>,
  encoding: BodyEncoding,
  maxBytes: number,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const checked = encoding === "gzip" ? surelyGzip(source) : source;
  let bytes = 0;
  try {
    for await (const chunk of textBytes(checked)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong(maxBytes);
      onBytes(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw isZlibError(error)
      ? new Refusal("encoding", `expected whole gzip data (${error.message})`)
      : error;
  }
}

async function* surelyGzip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let seen = 0;
  for await (const chunk of source) {
    // The first bytes may come one by one.
    for (const byte of chunk.subarray(0, GZIP_MAGIC.length - seen)) {
      if (byte !== GZIP_MAGIC[seen]) throw noGzip();
      seen += 1;
    }
    yield chunk;
  }
  if (seen > 0 && seen < GZIP_MAGIC.length) throw noGzip();
}

function noGzip(): Refusal {
  return new Refusal("encoding", "expected gzip data, as Content-Encoding says");
}

function isZlibError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("Z_")
  );
}
