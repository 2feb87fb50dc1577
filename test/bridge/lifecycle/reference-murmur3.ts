/**
 * MurmurHash3_x86_128 over a whole message, written from the public algorithm with BigInt and without
 * a look at ours: slow, and different where ours is fast.
 *
 * @returns the four 32-bit words, in order.
 */
export function referenceMurmur3(message: Uint8Array, seed = 0): [bigint, bigint, bigint, bigint] {
  const c: [bigint, bigint, bigint, bigint] = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n];
  const r = [15n, 16n, 17n, 18n] as const;
  const hr = [19n, 17n, 15n, 13n] as const;
  const n = [0x561ccd1bn, 0x0bcaa747n, 0x96cd1c35n, 0x32ac3b17n] as const;
  const h: [bigint, bigint, bigint, bigint] = [
    BigInt(seed),
    BigInt(seed),
    BigInt(seed),
    BigInt(seed),
  ];
  const lanes = [0, 1, 2, 3] as const;
  const after = [1, 2, 3, 0] as const;

  const word = (at: number, end: number): bigint => {
    let value = 0n;
    for (let n = Math.min(at + 4, end) - 1; n >= at; n--)
      value = (value << 8n) | BigInt(message[n] ?? 0);
    return value;
  };
  const mixed = (lane: 0 | 1 | 2 | 3, k: bigint): bigint =>
    u32(rotate(u32(k * c[lane]), r[lane]) * c[after[lane]]);

  const blocks = Math.floor(message.length / 16);
  for (let block = 0; block < blocks; block++) {
    for (const lane of lanes) {
      const at = block * 16 + lane * 4;
      h[lane] ^= mixed(lane, word(at, at + 4));
      const next = h[after[lane]];
      h[lane] = u32(u32(rotate(h[lane], hr[lane]) + next) * 5n + n[lane]);
    }
  }
  for (const lane of lanes) {
    const at = blocks * 16 + lane * 4;
    if (at < message.length) h[lane] ^= mixed(lane, word(at, message.length));
  }
  for (const lane of lanes) h[lane] ^= BigInt(message.length);
  const spread = () => {
    h[0] = u32(h[0] + h[1] + h[2] + h[3]);
    for (const lane of [1, 2, 3] as const) h[lane] = u32(h[lane] + h[0]);
  };
  spread();
  for (const lane of lanes) h[lane] = finalMix(h[lane]);
  spread();
  return h;
}

const u32 = (value: bigint): bigint => BigInt.asUintN(32, value);

const rotate = (value: bigint, by: bigint): bigint => u32((value << by) | (value >> (32n - by)));

function finalMix(value: bigint): bigint {
  let h = value ^ (value >> 16n);
  h = u32(h * 0x85ebca6bn);
  h ^= h >> 13n;
  h = u32(h * 0xc2b2ae35n);
  return h ^ (h >> 16n);
}

/** The span id that the contract gives something under a run. */
export function referenceSpanId(
  runBytes: Uint8Array,
  role: string,
  discriminator: string,
  occurrence = 1,
): string {
  const numbered = role === "t" && (discriminator === "" || occurrence > 1);
  const text = numbered ? `${discriminator}\0${occurrence}` : discriminator;
  const message = Buffer.concat([runBytes, Buffer.from(role + text, "utf8")]);
  const [h1, h2] = referenceMurmur3(message);
  const id = (h1 << 32n) | h2;
  return (id === 0n ? 1n : id).toString(16).padStart(16, "0");
}

/** The 16 bytes of a UUID. */
export function uuidBytes(uuid: string): Uint8Array {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

/**
 * A UUID under which the tool call `callId` has the span id zero, before zero becomes one: the
 * algorithm run backwards.
 */
export function uuidOfZeroSpan(callId: string): string {
  const tail = Buffer.from(`t${callId}`, "utf8");
  if (tail.length > 4) throw new RangeError("callId: expected at most 3 bytes");
  // Final state 0, 0, x, y with any x and y; all steps back to the state after the run's block.
  const h: [bigint, bigint, bigint, bigint] = [0n, 0n, 0x01234567n, 0x089abcden];
  const unspread = () => {
    for (const lane of [1, 2, 3] as const) h[lane] = u32(h[lane] - h[0]);
    h[0] = u32(h[0] - h[1] - h[2] - h[3]);
  };
  unspread();
  for (const lane of [0, 1, 2, 3] as const) h[lane] = unmix(h[lane]);
  unspread();
  for (const lane of [0, 1, 2, 3] as const) h[lane] ^= BigInt(16 + tail.length);
  let k = 0n;
  for (let n = tail.length - 1; n >= 0; n--) k = (k << 8n) | BigInt(tail[n] ?? 0);
  h[0] ^= u32(rotate(u32(k * 0x239b961bn), 15n) * 0xab0e9789n);
  // Back through the block, from a state of zeros: lane by lane, last first.
  const n = [0x561ccd1bn, 0x0bcaa747n, 0x96cd1c35n, 0x32ac3b17n] as const;
  const hr = [19n, 17n, 15n, 13n] as const;
  const r = [15n, 16n, 17n, 18n] as const;
  const c = [0x239b961bn, 0xab0e9789n, 0x38b34ae5n, 0xa1e38b93n, 0x239b961bn] as const;
  const bytes = Buffer.alloc(16);
  for (const lane of [0, 1, 2, 3] as const) {
    // Only the last lane was mixed with a state that was not zero any more: the new first one.
    const next = lane === 3 ? h[0] : 0n;
    const state = rotate(u32(u32((h[lane] - n[lane]) * inverse(5n)) - next), 32n - hr[lane]);
    const [cFrom, cTo] = [c[lane], c[lane + 1] ?? 0n];
    const word = u32(rotate(u32(state * inverse(cTo)), 32n - r[lane]) * inverse(cFrom));
    bytes.writeUInt32LE(Number(word), lane * 4);
  }
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The inverse of an odd number modulo 2^32, by Newton's iteration. */
function inverse(odd: bigint): bigint {
  let x = odd;
  for (let step = 0; step < 5; step++) x = u32(x * (2n - odd * x));
  return x;
}

function unmix(value: bigint): bigint {
  let h = value ^ (value >> 16n);
  h = u32(h * inverse(0xc2b2ae35n));
  h = h ^ (h >> 13n) ^ (h >> 26n);
  h = u32(h * inverse(0x85ebca6bn));
  return h ^ (h >> 16n);
}
