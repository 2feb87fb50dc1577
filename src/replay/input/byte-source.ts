import { GZIP_MAGIC, gunzipped } from "./gunzip.ts";

/** Bytes in pieces: a file, standard input or a request. Text is encoded as UTF-8. */
export type ByteSource = AsyncIterable<Uint8Array | string>;

/** Decompresses gzip data. */
export type Gunzip = (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/** The byte order mark of UTF-8. */
export const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * The bytes of a text source, without a UTF-8 byte order mark at the start. Gzip data is recognised by its first
 * bytes and decompressed. The pieces are views of the source's, so the source must not write to them again.
 *
 * @param gunzip decompresses. Default: {@link gunzipped}.
 * @throws the errors of the source and of `gunzip`.
 */
export async function* textBytes(
  source: ByteSource,
  gunzip: Gunzip = gunzipped,
): AsyncGenerator<Buffer, void, undefined> {
  const plain = withLongStart(buffers(source), GZIP_MAGIC.length);
  let first = true;
  for await (const chunk of withLongStart(inflated(plain, gunzip), BYTE_ORDER_MARK.length)) {
    yield first && startsWith(chunk, BYTE_ORDER_MARK)
      ? chunk.subarray(BYTE_ORDER_MARK.length)
      : chunk;
    first = false;
  }
}

async function* buffers(source: ByteSource): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of source) {
    if (typeof chunk === "string") yield Buffer.from(chunk, "utf8");
    else if (chunk instanceof Buffer) yield chunk;
    else yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

/** The same bytes. The first piece has at least `bytes` bytes, unless there are fewer in all. */
async function* withLongStart(
  source: AsyncIterable<Buffer>,
  bytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of source) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
    if (start.length < bytes) continue;
    yield start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}

async function* inflated(
  source: AsyncGenerator<Buffer, void, undefined>,
  gunzip: Gunzip,
): AsyncGenerator<Buffer, void, undefined> {
  const { value: first, done } = await source.next();
  if (done === true) return;
  const whole = withFirst(first, source);
  if (startsWith(first, GZIP_MAGIC)) yield* gunzip(whole);
  else yield* whole;
}

async function* withFirst(
  first: Buffer,
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  let reads = false;
  try {
    yield first;
    reads = true;
    yield* rest;
  } finally {
    // A caller that stops at the first piece ends only this generator. The source must be closed too.
    if (!reads) await rest.return();
  }
}

/** Whether `bytes` are in `chunk` at index `at`. */
export function startsWith(chunk: Buffer, bytes: readonly number[], at = 0): boolean {
  return bytes.every((byte, index) => chunk[at + index] === byte);
}
