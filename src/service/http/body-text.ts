import { textBytes } from "../../ingest/byte-source.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** How a body may come. Plain bytes that are gzip by their first two are taken as such too. */
export type BodyEncoding = "gzip" | "identity";

const GZIP_FIRST = 0x1f;

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
  let first = true;
  for await (const chunk of source) {
    if (first && chunk[0] !== GZIP_FIRST) {
      throw new Refusal("encoding", "expected gzip data, as Content-Encoding says");
    }
    first = false;
    yield chunk;
  }
}

function isZlibError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("Z_")
  );
}
