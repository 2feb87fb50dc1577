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
