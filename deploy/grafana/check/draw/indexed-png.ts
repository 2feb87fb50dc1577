import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The same picture with at most 256 colours, a third as large. Drawings have few colours; the shades at the edges of
 * letters are taken to the nearest one that is kept.
 *
 * @throws RangeError for a PNG that is not 8 bits deep, not RGB or RGBA, or interlaced: browsers write none such
 */
export function indexedPng(png: Buffer): Buffer {
  const chunks = readChunks(png);
  const header = chunks.find(({ type }) => type === "IHDR")?.data;
  if (header === undefined) throw new RangeError("png: expected a header");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, kind, interlace] = [header[8], header[9], header[12]];
  const channels = kind === 2 ? 3 : kind === 6 ? 4 : 0;
  if (depth !== 8 || channels === 0 || interlace !== 0) {
    throw new RangeError("png: expected RGB or RGBA with 8 bits, not interlaced");
  }
  const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map((each) => each.data));
  const pixels = unfiltered(inflateSync(data), width, height, channels);
  const { indexOf, palette } = paletteOf(pixels, channels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const color = colorAt(pixels, (y * width + x) * channels);
      rows[y * (width + 1) + 1 + x] = indexOf.get(color) ?? 0;
    }
  }
  const head = Buffer.from(header);
  head[9] = 3;
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", palette),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/**
 * The colours that are kept, and which of them stands for each colour of the picture: the most frequent ones, where a
 * strong colour counts for more than a grey. A single bar of a rare failure must not take the colour of another.
 */
function paletteOf(pixels: Buffer, channels: number) {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += channels) {
    const color = colorAt(pixels, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const kept = [...counts]
    .map(([color, count]): [number, number] => [color, count * (1 + strength(color))])
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 256)
    .map(([color]) => color);
  const indexOf = new Map(kept.map((color, at) => [color, at]));
  for (const color of counts.keys()) {
    if (!indexOf.has(color)) indexOf.set(color, nearest(color, kept));
  }
  return { indexOf, palette: Buffer.from(kept.flatMap((color) => [...parts(color)])) };
}

/** 0 for a grey, up to 255. */
function strength(color: number): number {
  const each = parts(color);
  return Math.max(...each) - Math.min(...each);
}

function nearest(color: number, among: readonly number[]): number {
  const wanted = parts(color);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, each] of among.entries()) {
    const found = parts(each);
    const distance = wanted.reduce((sum, part, n) => sum + (part - (found[n] ?? 0)) ** 2, 0);
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}

function colorAt(pixels: Buffer, at: number): number {
  return pixels.readUIntBE(at, 3);
}

function parts(color: number): readonly [number, number, number] {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

function readChunks(png: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = SIGNATURE.length; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}

/** Each line of a PNG is written as differences, by one of five rules. */
function unfiltered(data: Buffer, width: number, height: number, channels: number): Buffer {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const rule = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (pixels[at - channels] ?? 0);
      const up = y === 0 ? 0 : (pixels[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (pixels[at - stride - channels] ?? 0);
      const raw = data[y * (stride + 1) + 1 + x] ?? 0;
      pixels[at] = raw + predicted(rule, left, up, corner);
    }
  }
  return pixels;
}

function predicted(rule: number, left: number, up: number, corner: number): number {
  switch (rule) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const [a, b, c] = [
        Math.abs(up - corner),
        Math.abs(left - corner),
        Math.abs(left + up - 2 * corner),
      ];
      if (a <= b && a <= c) return left;
      return b <= c ? up : corner;
    }
    default:
      throw new RangeError(`png: expected a filter from 0 to 4, got ${rule}`);
  }
}
