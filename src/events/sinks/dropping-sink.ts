import { callHook } from "../errors/call-hook.ts";
import { checkFunction, checkOptionsObject } from "../option-checks.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";

/** Options of {@link DroppingSink}. */
export interface DroppingOptions {
  /** Called once a process, at the first event dropped. Default: not called. */
  readonly onDebug?: DebugLine | undefined;
}

/**
 * Drops every event: for an agent without observers. Upstream: `DroppingSink` of entelix-agents,
 * what an agent has when no sink is registered.
 */
export class DroppingSink implements AgentEventSink {
  readonly #onDebug: DebugLine | undefined;

  /** @throws TypeError when `onDebug` is no function. */
  constructor(options: DroppingOptions = {}) {
    checkOptionsObject(options);
    checkFunction(options.onDebug, "onDebug");
    this.#onDebug = options.onDebug;
  }

  send(): void {
    debugOnce(this.#onDebug, "DroppingSink: agent events are dropped, for no sink is registered");
  }
}

/** Called with a debug message. Errors that it throws are ignored. */
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
