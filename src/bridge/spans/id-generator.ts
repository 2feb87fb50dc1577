import { randomFillSync } from "node:crypto";
import { processWide } from "../../events/door.ts";

/** OpenTelemetry's `IdGenerator` as a structural type, so that no SDK is needed. */
export interface IdGeneratorLike {
  generateTraceId(): string;
  generateSpanId(): string;
}

/**
 * Creates an ID generator that gives the bridge's spans their derived IDs and all other spans
 * random ones. `setupTracing` installs it. If you have your own provider, pass it as `idGenerator`.
 *
 * @param fallback generates the IDs of other spans. Default: random IDs.
 *
 * @example
 * const provider = new TracerProvider({ idGenerator: createIdGenerator() });
 */
export function createIdGenerator(fallback: IdGeneratorLike = randomIds): IdGeneratorLike {
  return {
    generateTraceId: () => {
      const id = idSlot.traceId;
      if (id === undefined) return fallback.generateTraceId();
      idSlot.traceId = undefined;
      return id;
    },
    generateSpanId: () => {
      const id = idSlot.spanId;
      if (id === undefined) return fallback.generateSpanId();
      idSlot.spanId = undefined;
      return id;
    },
  };
}

const POOL = Buffer.alloc(4096);
let at = POOL.length;

function randomHex(bytes: number): string {
  if (at + bytes > POOL.length) {
    randomFillSync(POOL);
    at = 0;
  }
  const hex = POOL.toString("hex", at, at + bytes);
  at += bytes;
  // An ID of zeros is invalid. One retry is enough, since it is very rare.
  return /[^0]/.test(hex) ? hex : randomHex(bytes);
}

const randomIds: IdGeneratorLike = {
  generateTraceId: () => randomHex(16),
  generateSpanId: () => randomHex(8),
};

/**
 * The next IDs for the ID generator.
 *
 * The driver sets them immediately before it starts a span, and clears them after. One slot for the process, since the
 * bridge of one copy of this package must reach the generator of another.
 */
export interface IdSlot {
  traceId: string | undefined;
  spanId: string | undefined;
}

function isIdSlot(value: unknown): value is IdSlot {
  return typeof value === "object" && value !== null && "traceId" in value && "spanId" in value;
}

export const idSlot = processWide(
  "id-slot.v1",
  isIdSlot,
  (): IdSlot => ({ traceId: undefined, spanId: undefined }),
);
