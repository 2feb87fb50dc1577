import { checkFunction } from "../option-checks.ts";
import { processWide } from "../process-wide.ts";
import { checkEach } from "../unknown-options.ts";
import { callHook } from "../users-functions.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";

/** Options of {@link DroppingSink}. */
export interface DroppingOptions {
  /** Called once a process, at the first dropped event. Default: not called. */
  readonly onDebug?: DebugLine | undefined;
}

/**
 * Drops every event, for an agent without observers. In Rust: `DroppingSink` of entelix-agents, the default of an
 * agent without a sink.
 */
export class DroppingSink implements AgentEventSink {
  readonly #onDebug: DebugLine | undefined;

  /** @throws TypeError if `onDebug` is not a function. */
  constructor(options: DroppingOptions = {}) {
    this.#onDebug = checkEach(options, { onDebug: checkFunction }).onDebug;
  }

  send(): void {
    debugOnce(this.#onDebug, "DroppingSink: agent events are dropped, for no sink is registered");
  }
}

/** Called with a debug message. Errors that it throws are ignored. */
export type DebugLine = (message: string) => void;

/**
 * Calls `onDebug` at most once a process, even if the ESM and the CommonJS copy of this package are both loaded.
 * Without `onDebug`, a later call can still do it.
 */
export function debugOnce(onDebug: DebugLine | undefined, message: string): void {
  if (onDebug === undefined) return;
  const shown = shownLines();
  if (shown.has(message)) return;
  shown.add(message);
  callHook(() => onDebug(message));
}

function shownLines(): Set<unknown> {
  return processWide("debug-lines", isSet, () => new Set());
}

function isSet(value: unknown): value is Set<unknown> {
  return value instanceof Set;
}
