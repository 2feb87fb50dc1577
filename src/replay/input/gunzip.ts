import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createGunzip, createInflateRaw } from "node:zlib";

/** Size of the pieces that come out, in bytes. */
const INFLATED_CHUNK = 256 * 1024;

/** What the first two bytes of gzip data are. */
export const GZIP_MAGIC = [0x1f, 0x8b] as const;

/**
 * Members that are taken one by one, which costs some 50 us each: a body of a million empty ones would
 * keep a core busy for a minute. What comes after them goes through `createGunzip`.
 */
const MOST_MEMBERS = 1_000;

const DEFLATE = 8;
/** Time, level and system: nothing that is needed. */
const UNUSED_BYTES = 6;
const TRAILER_BYTES = 8;
/** Bits of the header's flags: what else stands in it, in this order. */
const HAS_EXTRA = 0x04;
const TEXTS = [0x08, 0x10];
const HAS_HEADER_SUM = 0x02;

/** Gzip data that is damaged, cut, or has something else behind its end. */
class GzipDataError extends Error {
  /** As an error of `node:zlib` has it. */
  readonly code: "Z_DATA_ERROR" | "Z_BUF_ERROR";

  constructor(code: GzipDataError["code"], message: string) {
    super(message);
    this.name = "GzipDataError";
    this.code = code;
  }
}

/**
 * Decompresses gzip data of any number of members, zeros behind them left out. Where it is cut, or other
 * bytes stand behind its end, all before that is given before the error comes: `createGunzip` keeps back
 * up to a piece of it in front of other bytes, and drops what nobody has asked for yet when data is cut.
 * Where the data itself is damaged, up to a piece before the place is not given.
 *
 * @throws an error with a code of zlib's (`Z_DATA_ERROR`, `Z_BUF_ERROR`) where the data is damaged or
 *   cut; what the source throws.
 */
export async function* gunzipped(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const input = new Input(source);
  try {
    for (let members = 0; members < MOST_MEMBERS; members += 1) {
      await passHeader(input, members);
      let sum = 0;
      let size = 0;
      for await (const chunk of inflated(input)) {
        sum = crc32(chunk, sum);
        size = (size + chunk.length) % 2 ** 32;
        yield chunk;
      }
      const trailer = await input.take(TRAILER_BYTES);
      if (trailer.readUInt32LE(0) !== sum) throw damaged("incorrect data check");
      if (trailer.readUInt32LE(4) !== size) throw damaged("incorrect length check");
      if (!(await input.skipZeros())) return;
    }
    yield* manyMembers(input.rest());
  } finally {
    await input.close();
  }
}

async function passHeader(input: Input, members: number): Promise<void> {
  for (const expected of GZIP_MAGIC) {
    if ((await input.take(1))[0] === expected) continue;
    throw damaged(members === 0 ? "incorrect header check" : "other bytes stand behind its end");
  }
  const [method, flags = 0] = await input.take(2);
  if (method !== DEFLATE) throw damaged("unknown compression method");
  await input.take(UNUSED_BYTES);
  if ((flags & HAS_EXTRA) !== 0) await input.take((await input.take(2)).readUInt16LE(0));
  for (const text of TEXTS) if ((flags & text) !== 0) await input.skipText();
  if ((flags & HAS_HEADER_SUM) !== 0) await input.take(2);
}

async function* manyMembers(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK });
  const pumped = pipeline(Readable.from(source, { objectMode: false }), gunzip);
  // An error reaches the loop below through the stream; here it would only be reported twice.
  pumped.catch(() => {});
  for await (const chunk of gunzip) {
    if (chunk instanceof Buffer) yield chunk;
  }
}

/** The text of one member; what is behind it stays with the input. */
async function* inflated(input: Input): AsyncGenerator<Buffer, void, undefined> {
  const inflate = createInflateRaw({ chunkSize: INFLATED_CHUNK });
  let given = 0;
  let busy = false;
  let failed: Error | undefined;
  let wake = () => {};
  const done = (error?: Error | null) => {
    busy = false;
    failed ??= error ?? undefined;
    wake();
  };
  inflate.on("readable", () => wake());
  inflate.on("error", done);
  try {
    for (;;) {
      const piece = await input.piece();
      given += piece.length;
      busy = true;
      inflate.write(piece, done);
      for (;;) {
        const chunk: unknown = inflate.read();
        if (chunk instanceof Buffer) yield chunk;
        else if (failed !== undefined) throw failed;
        else if (!busy) break;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      const rest = given - inflate.bytesWritten;
      if (rest === 0) continue;
      input.giveBack(piece.subarray(piece.length - rest));
      return;
    }
  } finally {
    inflate.destroy();
  }
}

/** Bytes of a source, so many at a time. */
class Input {
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  /** What comes next, at least a byte of it. @throws GzipDataError at the end. */
  async piece(): Promise<Buffer> {
    if (!(await this.#fill())) throw new GzipDataError("Z_BUF_ERROR", "unexpected end of file");
    const piece = this.#held;
    this.#held = Buffer.alloc(0);
    return piece;
  }

  /** What was not needed of the last piece. */
  giveBack(rest: Buffer): void {
    this.#held = rest;
  }

  /** So many bytes. @throws GzipDataError where there are fewer. */
  async take(bytes: number): Promise<Buffer> {
    let taken: Buffer = Buffer.alloc(0);
    while (taken.length < bytes) taken = Buffer.concat([taken, await this.piece()]);
    this.giveBack(taken.subarray(bytes));
    return taken.subarray(0, bytes);
  }

  /** Passes a text and the zero that ends it. */
  async skipText(): Promise<void> {
    for (;;) {
      const piece = await this.piece();
      const end = piece.indexOf(0);
      if (end === -1) continue;
      this.giveBack(piece.subarray(end + 1));
      return;
    }
  }

  /** @returns whether anything but zeros comes. */
  async skipZeros(): Promise<boolean> {
    while (await this.#fill()) {
      const at = this.#held.findIndex((byte) => byte !== 0);
      this.#held = this.#held.subarray(at === -1 ? this.#held.length : at);
      if (at !== -1) return true;
    }
    return false;
  }

  /** All that is left. */
  async *rest(): AsyncGenerator<Buffer, void, undefined> {
    while (await this.#fill()) yield await this.piece();
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#held.length === 0) {
      const { value, done } = await this.#pieces.next();
      if (done === true) return false;
      this.#held = value;
    }
    return true;
  }
}

function damaged(message: string): GzipDataError {
  return new GzipDataError("Z_DATA_ERROR", message);
}
