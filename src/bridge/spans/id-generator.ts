import { randomFillSync } from "node:crypto";

/** OpenTelemetry's id generator, by structure: no SDK is needed to implement it. */
export interface IdGeneratorLike {
  generateTraceId(): string;
  generateSpanId(): string;
}

/**
 * Creates an ID generator that gives the bridge's spans their derived IDs and all other spans
 * random ones. `setupTracing` installs it. If you have your own provider, pass it as `idGenerator`.
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

/**
 * Where the next ids wait for the id generator.
 *
 * The driver puts derived ids here right before it starts a span, and takes them back right after.
 * It hangs on a `Symbol.for` key, since an ESM and a CommonJS copy of this package can be loaded in
 * one process: the bridge of one must reach the generator of the other.
 */
export interface IdSlot {
  traceId: string | undefined;
  spanId: string | undefined;
}

const KEY = Symbol.for("entelix-otel.id-slot.v1");

function isIdSlot(value: unknown): value is IdSlot {
  return typeof value === "object" && value !== null && "traceId" in value && "spanId" in value;
}

function sharedSlot(): IdSlot {
  const existing: unknown = Reflect.get(globalThis, KEY);
  if (isIdSlot(existing)) return existing;
  const slot: IdSlot = { traceId: undefined, spanId: undefined };
  Reflect.set(globalThis, KEY, slot);
  return slot;
}

export const idSlot = sharedSlot();
