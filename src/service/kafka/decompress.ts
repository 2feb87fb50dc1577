import * as zlib from "node:zlib";

/** Algorithms of the client, for formats that Node lacks. */
export interface ClientAlgorithms {
  readonly snappy: ClientAlgorithm;
  readonly lz4: ClientAlgorithm;
}

interface ClientAlgorithm {
  decompressSync(data: Buffer): Buffer;
}

/**
 * Maximum decompressed size of a batch, in bytes: 384 MiB. zstd needs it twice for a moment, and a worker may have 1
 * GiB. Larger batches cannot be read.
 */
const MOST_BATCH_BYTES = 384 * 1024 * 1024;
/** The same for LZ4 and Snappy: 128 MiB. The client's WebAssembly takes five times that, and keeps it. */
const MOST_CLIENT_BYTES = 128 * 1024 * 1024;

/** A batch whose records cannot be read. */
export class BatchError extends Error {}

/**
 * The content of a compressed batch: at most 384 MiB, or 128 MiB for LZ4 and Snappy.
 *
 * @param algorithm the batch's number, 1 to 4.
 * @throws BatchError if it is longer, damaged, or has an unknown algorithm.
 */
export function decompressed(
  algorithm: number,
  data: Buffer,
  client: ClientAlgorithms | undefined,
): Buffer {
  try {
    switch (algorithm) {
      case 1:
        return gunzipped(data);
      case 2:
        checkLength(snappyLength(data));
        return byClient(client?.snappy, data, "snappy");
      case 3:
        checkLength(lz4Length(data));
        return byClient(client?.lz4, data, "lz4");
      case 4:
        return unzstd(data);
      default:
        throw new BatchError(`expected a known compression, got number ${algorithm}`);
    }
  } catch (error) {
    if (error instanceof BatchError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLong(MOST_BATCH_BYTES);
    }
    throw new BatchError(`cannot be decompressed: ${String(error)}`, { cause: error });
  }
}

/** Size of decompressed pieces, in bytes. They are concatenated at the end. */
const PIECE = 1024 * 1024;

/** With the size from the data, if it is right, one piece is enough and no second copy is needed. */
function gunzipped(data: Buffer): Buffer {
  const size = data.length < 18 ? 0 : data.readUInt32LE(data.length - 4);
  const chunkSize = size > PIECE && size < MOST_BATCH_BYTES ? size + 1 : PIECE;
  return zlib.gunzipSync(data, { maxOutputLength: MOST_BATCH_BYTES, chunkSize });
}

/** The Node versions of a consumer have it. The types here are older. */
function unzstd(data: Buffer): Buffer {
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  if (typeof decompress !== "function") throw new BatchError("this Node has no zstd");
  const made: unknown = decompress(data, { maxOutputLength: MOST_BATCH_BYTES, chunkSize: PIECE });
  if (!Buffer.isBuffer(made)) throw new BatchError("cannot be decompressed: no bytes came");
  return made;
}

function byClient(algorithm: ClientAlgorithm | undefined, data: Buffer, name: string): Buffer {
  if (algorithm === undefined) throw new BatchError(`the Kafka client has no ${name}`);
  return algorithm.decompressSync(data);
}

function checkLength(bytes: number): void {
  if (bytes > MOST_CLIENT_BYTES) throw tooLong(MOST_CLIENT_BYTES);
}

function tooLong(most: number): BatchError {
  return new BatchError(`expected at most ${most} bytes after decompression`);
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEAD = 16;

/** Decompressed size according to a snappy block, or to the blocks of Java's framing. */
function snappyLength(data: Buffer): number {
  if (!data.subarray(0, XERIAL.length).equals(XERIAL)) return varint(data);
  let bytes = 0;
  let at = XERIAL_HEAD;
  while (at + 4 <= data.length) {
    const length = data.readUInt32BE(at);
    at += 4;
    bytes += varint(data.subarray(at, at + length));
    at += length;
  }
  return bytes;
}

function varint(data: Buffer): number {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = data[i] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) break;
  }
  return value;
}

const LZ4_MAGIC = 0x184d2204;
const LZ4_CONTENT_SIZE = 0x08;
const LZ4_DICTIONARY = 0x01;
const LZ4_BLOCK_CHECKSUM = 0x10;
const LZ4_CONTENT_CHECKSUM = 0x04;

/** Maximum decompressed size of LZ4 frames: each block has at most its frame's block size. */
function lz4Length(data: Buffer): number {
  let bytes = 0;
  let at = 0;
  while (at + 7 <= data.length && data.readUInt32LE(at) === LZ4_MAGIC) {
    const flags = data[at + 4] ?? 0;
    const most = 2 ** (8 + 2 * (((data[at + 5] ?? 0) >> 4) & 7));
    at += 7 + ((flags & LZ4_CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & LZ4_DICTIONARY) === 0 ? 0 : 4);
    while (at + 4 <= data.length) {
      const head = data.readUInt32LE(at);
      at += 4;
      if (head === 0) break;
      const size = head & 0x7fff_ffff;
      bytes += head === size ? most : size;
      at += size + ((flags & LZ4_BLOCK_CHECKSUM) === 0 ? 0 : 4);
    }
    at += (flags & LZ4_CONTENT_CHECKSUM) === 0 ? 0 : 4;
  }
  return bytes;
}
