import { checkFunction, checkOptionsObject } from "../events/option-checks.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";
import { type DebugLine, debugOnce } from "./debug-line.ts";

/** Options of {@link DroppingSink}. */
export interface DroppingOptions {
  /** Told once a process, at the first event dropped. Default: nobody. */
  readonly onDebug?: DebugLine | undefined;
}

/**
 * Drops every event: for an agent that nobody watches. Upstream: `DroppingSink` of entelix-agents,
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
