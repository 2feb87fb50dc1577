import type { AgentEvent } from "../agent-event.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { wholeFrom } from "../option-checks.ts";
import { checkEach } from "../unknown-options.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";
import { type SentEvent, sentEvent } from "./agent-event-sink.ts";

/** Options of {@link CaptureSink}. */
export interface CaptureOptions {
  /** Most stored events. Further events are only counted. Default 100,000. */
  readonly limit?: number | undefined;
}

/**
 * Stores the events that it receives, for tests and exploration. In Rust: `CaptureSink` of
 * entelix-agents.
 *
 * @example
 * const sink = new CaptureSink();
 * await run(sink);
 * expect(sink.events.map((event) => event.type)).toEqual(["started", "complete"]);
 */
export class CaptureSink<S = unknown> implements AgentEventSink<S> {
  readonly #limit: number;
  #items: SentEvent<S>[] = [];
  #dropped = 0;

  /** @throws RangeError if `limit` is not a whole number from 0. */
  constructor(options: CaptureOptions = {}) {
    this.#limit = checkEach(options, { limit: wholeFrom(0) }).limit ?? 100_000;
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void {
    if (this.#items.length === this.#limit) this.#dropped += 1;
    else this.#items.push(sentEvent(event, envelope));
  }

  /** The events sent so far, oldest first; a copy. */
  get events(): AgentEvent<S>[] {
    return this.#items.map((item) => item.event);
  }

  /** The events sent so far with their envelopes, oldest first; a copy. */
  get items(): SentEvent<S>[] {
    return [...this.#items];
  }

  /** Number of events that were not stored because the limit was reached. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Removes all events and resets the count of dropped events. */
  clear(): void {
    this.#items = [];
    this.#dropped = 0;
  }
}
