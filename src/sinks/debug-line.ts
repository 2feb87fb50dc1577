import { callHook } from "../errors/call-hook.ts";

/** Told of something worth knowing once, when debugging. What it throws, or rejects with, is dropped. */
export type DebugLine = (message: string) => void;

const SLOT: unique symbol = Symbol.for("entelix-otel.debug-lines");

/**
 * Says something at most once a process, though the ESM and the CommonJS copy of this package may
 * both be loaded. Without somebody to tell, the line stays unsaid and can still be said later.
 */
export function debugOnce(onDebug: DebugLine | undefined, message: string): void {
  if (onDebug === undefined) return;
  const said = linesSaid();
  if (said.has(message)) return;
  said.add(message);
  callHook(() => onDebug(message));
}

function linesSaid(): Set<unknown> {
  const held: unknown = Reflect.get(globalThis, SLOT);
  if (held instanceof Set) return held;
  const fresh = new Set<unknown>();
  Object.defineProperty(globalThis, SLOT, { value: fresh, configurable: true });
  return fresh;
}
