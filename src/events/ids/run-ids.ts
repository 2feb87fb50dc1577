import { hash } from "node:crypto";
import { readUuid, type UuidWords } from "./id-words.ts";
import { finishFrom, type MurmurState, mixBlock } from "./murmur3.ts";

/** What a span under a run represents. The byte is part of the hash. */
export type Role = "t" | "m" | "s" | "o" | "p";

/**
 * The 16 bytes of a run, and every ID that is derived from them.
 *
 * A run whose ID is a UUID has the UUID's 16 bytes. Any other run ID (and the nil and max UUID) has the first 16
 * bytes of the SHA-256 of tenant, a zero byte and run ID. Other programs can compute them as well:
 * `docs/ids-and-sampling.md`.
 */
export class RunIds implements MurmurState {
  /** Trace ID of the run if it is a root: its 16 bytes in hex. */
  readonly traceId: string;
  /** Span ID of the run's first segment: its last 8 bytes in hex. */
  readonly spanId: string;
  /** From the hash of tenant and run ID, not from a UUID. */
  readonly hashed: boolean;
  /** From a UUID with upper-case letters. */
  readonly capitals: boolean;
  /** The 16 bytes as four big-endian words. */
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
  /** State of the hash after the 16 bytes. Zeros until the first ID under the run is made. */
  h1 = 0;
  h2 = 0;
  h3 = 0;
  h4 = 0;
  #mixed = false;

  private constructor(
    w0: number,
    w1: number,
    w2: number,
    w3: number,
    hashed: boolean,
    capitals: boolean,
  ) {
    this.hashed = hashed;
    this.capitals = capitals;
    this.w0 = w0;
    this.w1 = w1;
    this.w2 = w2;
    this.w3 = w3;
    const low = hex64(w2, w3);
    this.traceId = hex64(w0, w1) + low;
    this.spanId = (w2 | w3) === 0 ? FIRST_SPAN_ID : low;
  }

  /** The IDs of a run by its UUID. `undefined` if the run ID is not a UUID. */
  static fromUuid(runId: string): RunIds | undefined {
    const uuid = readUuid(runId);
    if (uuid === undefined || !isTraceId(uuid)) return undefined;
    return new RunIds(uuid.w0, uuid.w1, uuid.w2, uuid.w3, false, uuid.capitals);
  }

  /** The IDs of a run without a UUID: hashed with the tenant. */
  static hashed(tenantId: string, runId: string): RunIds {
    const digest = hash("sha256", `${tenantId}\0${runId}`, "buffer");
    return new RunIds(
      digest.readInt32BE(0),
      digest.readInt32BE(4),
      digest.readInt32BE(8),
      digest.readInt32BE(12),
      true,
      false,
    );
  }

  /**
   * The span ID of a call, step or segment under the run.
   *
   * @param discriminator tool-use ID, or a decimal number, or empty.
   * @param occurrence how often the ID has occurred in this run, from 1. It is part of the hash if the ID is empty or
   *   has occurred before.
   */
  childSpanId(role: Role, discriminator: string, occurrence = 1): string {
    const { h1, h2 } = this.childWords(role, discriminator, occurrence);
    return spanIdOf(h1, h2);
  }

  /**
   * The words of {@link childSpanId}, as `h1` and `h2`.
   *
   * @returns a shared object. Read it at once.
   */
  childWords(role: Role, discriminator: string, occurrence: number): MurmurState {
    if (!this.#mixed) {
      this.#mixed = true;
      mixBlock(this, swap(this.w0), swap(this.w1), swap(this.w2), swap(this.w3));
    }
    const numbered = role === "t" && (occurrence > 1 || discriminator === "");
    const length = stage(role, numbered ? `${discriminator}\0${occurrence}` : discriminator);
    return finishFrom(this, staged, length);
  }
}

/** Whether a run ID is a UUID that can be a trace ID (any version and case, but not nil or max). */
export function isUuid(runId: string): boolean {
  const uuid = readUuid(runId);
  return uuid !== undefined && isTraceId(uuid);
}

/** Not nil, and not max. */
function isTraceId({ w0, w1, w2, w3 }: UuidWords): boolean {
  return (w0 | w1 | w2 | w3) !== 0 && (w0 & w1 & w2 & w3) !== -1;
}

/** Replaces an ID of all zeros, which is not a valid span ID. */
const FIRST_SPAN_ID = "0000000000000001";

const scratch = new Uint8Array(1024);
let staged = scratch;
const encoder = new TextEncoder();

/** Writes the role byte and the text as UTF-8 to `staged`. Returns the number of bytes. */
function stage(role: Role, text: string): number {
  // UTF-8 takes at most three bytes a UTF-16 unit. A text longer than usual IDs gets its own buffer, which the next
  // one releases.
  const most = 1 + text.length * 3;
  staged = most > scratch.length ? new Uint8Array(most) : scratch;
  staged[0] = role.charCodeAt(0);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return 1 + encoder.encodeInto(text, staged.subarray(1)).written;
    staged[at + 1] = code;
  }
  return text.length + 1;
}

/** The span ID of two words. It is never all zeros. */
export function spanIdOf(high: number, low: number): string {
  return (high | low) === 0 ? FIRST_SPAN_ID : hex64(high, low);
}

function swap(w: number): number {
  return (w >>> 24) | ((w >>> 8) & 0xff00) | ((w << 8) & 0xff0000) | (w << 24);
}

const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

const digit = (word: number, shift: number): number => DIGITS[(word >>> shift) & 15] as number;

/** Two 32-bit words, big-endian, as 16 lower-case hex digits. One call makes one flat string. */
export function hex64(high: number, low: number): string {
  return String.fromCharCode(
    digit(high, 28),
    digit(high, 24),
    digit(high, 20),
    digit(high, 16),
    digit(high, 12),
    digit(high, 8),
    digit(high, 4),
    digit(high, 0),
    digit(low, 28),
    digit(low, 24),
    digit(low, 20),
    digit(low, 16),
    digit(low, 12),
    digit(low, 8),
    digit(low, 4),
    digit(low, 0),
  );
}

/**
 * The stored form of a run ID: a UUID in lower case, any other ID unchanged. Untyped programs may send a value that
 * is not a text, which is returned unchanged.
 */
export function canonicalRunId(runId: string): string {
  if (runId !== lastId) {
    lastForm = CAPITAL.test(runId) && isUuid(runId) ? runId.toLowerCase() : runId;
    lastId = runId;
  }
  return lastForm;
}

/** The last ID that was read, and its stored form: one event needs it several times. */
let lastId = "";
let lastForm = "";

const CAPITAL = /[A-F]/;

const UUID_VERSION = "8";
/** Hex digits of the UUID variant that RFC 9562 defines. */
const VARIANTS = "89ab";

/** A UUID of version 8, made of the first 16 bytes of the SHA-256 of a text. */
export function hashedUuid(text: string): string {
  const hex = hash("sha256", text, "hex");
  const variant = VARIANTS.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${UUID_VERSION}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
