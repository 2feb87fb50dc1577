import type { Random } from "../../support/random.ts";

/** What is done to the bytes of a file. */
export interface Damage {
  readonly kind: "flip" | "cut";
  /** Offset of the byte that is flipped, or of the first that is gone. */
  readonly at: number;
  /** Bits of the byte that are flipped. */
  readonly mask: number;
}

/** A flip of one bit, now and then of several bits of one byte, at an offset from `from` to below `end`. */
export function drawFlip(random: Random, from: number, end: number): Damage {
  const mask = random.chance(0.8) ? 1 << random.below(8) : 1 + random.below(255);
  return { kind: "flip", at: drawOffset(random, from, end), mask };
}

/** A cut that leaves at least `from` bytes, and fewer than `end`. */
export function drawCut(random: Random, from: number, end: number): Damage {
  return { kind: "cut", at: drawOffset(random, from, end), mask: 0 };
}

/** Any offset; the first and the last one are likelier than others, since ends have rules of their own. */
function drawOffset(random: Random, from: number, end: number): number {
  if (random.chance(0.96)) return from + random.below(end - from);
  return random.chance(0.5) ? from : end - 1;
}

export function damaged(bytes: Buffer, { at, kind, mask }: Damage): Buffer {
  if (kind === "cut") return bytes.subarray(0, at);
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ mask;
  return copy;
}

/** For messages. */
export function damageText(file: string, { at, kind, mask }: Damage): string {
  return kind === "cut" ? `${file} cut to ${at} bytes` : `${file}: byte ${at} xor ${mask}`;
}
