import { randomFillSync } from "node:crypto";
import { idSlot } from "./id-slot.ts";

/** OpenTelemetry's id generator, by structure: no SDK is needed to implement it. */
export interface IdGeneratorLike {
  generateTraceId(): string;
  generateSpanId(): string;
}

/**
 * The id generator that gives the bridge's spans their derived ids, and every other span random
 * ones. `setupTracing` installs it; people with a provider of their own pass it as `idGenerator`.
 *
 * @param fallback where the ids of other spans come from. Default: random ids.
 *
 * @example
 * const provider = new NodeTracerProvider({ idGenerator: createIdGenerator() });
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
  // All zeros is not a valid id; so rare that asking again is the whole cure.
  return /[^0]/.test(hex) ? hex : randomHex(bytes);
}

const randomIds: IdGeneratorLike = {
  generateTraceId: () => randomHex(16),
  generateSpanId: () => randomHex(8),
};
