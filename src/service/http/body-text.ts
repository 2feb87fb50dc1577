import { textBytes } from "../../ingest/byte-source.ts";
import { GZIP_MAGIC } from "../../ingest/gunzip.ts";
import { gzipText } from "./gzip-text.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { Refusal } from "./refusal.ts";
import { tooLong } from "./request-body.ts";

/** How a body may come. Plain bytes that are gzip by their first two are taken as such too. */
export type BodyEncoding = "gzip" | "identity";

export interface BodyTextOptions {
  readonly encoding: BodyEncoding;
  /** Longest text. */
  readonly maxBytes: number;
  /** Where compressed bytes wait for their checksum. */
  readonly held: HeldBytes;
  /** Told of the bytes of text as they come. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * The text of a body: plain bytes piece by piece as they come, gzip as {@link gzipText} does.
 *
 * @throws Refusal when the text is longer than `maxBytes`, or the gzip data is none, damaged, or has no
 * room to wait; what the source throws.
 */
export async function* bodyText(
  source: AsyncIterable<Buffer>,
  { encoding, maxBytes, held, onBytes }: BodyTextOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const sent = encoding === "gzip" ? surelyGzip(source) : source;
  let bytes = 0;
  for await (const chunk of textBytes(sent, (gzip) => gzipText(gzip, maxBytes, held))) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
    onBytes(chunk.length);
    yield chunk;
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
  if (seen < GZIP_MAGIC.length) throw noGzip();
}

function noGzip(): Refusal {
  return new Refusal("encoding", "expected gzip data, as Content-Encoding says");
}
