import {
  type AgentEvent,
  type Instant,
  isSince,
  now,
  readEventTime,
  sentLater,
} from "../../events/door.ts";
import type { OpenEnvelope, SafeSink } from "../core/door.ts";

/** Maximum number of waiting events. Above it, all are sent. */
const MOST_WAITING = 1_000;

/** An event that waits and may be dropped. */
export interface HeldEvent {
  /** Sends the event, and the events that wait behind it. */
  release(): void;
  /** Removes the event. Does nothing after it was sent. */
  drop(): void;
  readonly isOpen: boolean;
}

interface Waiting {
  readonly event: AgentEvent;
  readonly envelope: OpenEnvelope;
  isHeld: boolean;
  isDropped: boolean;
  /** Releases the event after a time limit. */
  timer?: NodeJS.Timeout;
}

/**
 * Sends the events of a session in order. A held event makes the later ones wait: a tool call has only started once
 * its permission is decided. Events that waited are sent with the time at which they happened.
 */
export class HeldEvents {
  readonly #sink: Pick<SafeSink, "send">;
  readonly #waiting: Waiting[] = [];
  #isHolding = false;
  /** When the last waiting event was sent. */
  #flushedAt: Readonly<Instant> | undefined;

  constructor(sink: Pick<SafeSink, "send">) {
    this.#sink = sink;
  }

  send(event: AgentEvent, envelope: OpenEnvelope): void {
    if (!this.#isHolding && this.#waiting.length === 0) {
      // A model's answer has an earlier time. Readers of a recording would put it before its start, which waited.
      this.#sink.send(event, this.#isEarlier(envelope) ? sentLater(envelope) : envelope);
      return;
    }
    this.#waiting.push({ event, envelope, isHeld: this.#isHolding, isDropped: false });
    if (this.#waiting.length > MOST_WAITING) this.releaseAll();
  }

  /**
   * Holds the one event that `make` sends.
   *
   * @param mostMs time in ms after which the event is released.
   */
  hold(make: () => void, mostMs: number): HeldEvent {
    this.#isHolding = true;
    try {
      make();
    } finally {
      this.#isHolding = false;
    }
    const held = this.#waiting.at(-1);
    const decide = (isDropped: boolean) => {
      if (held?.isHeld !== true) return;
      unhold(held);
      held.isDropped = isDropped;
      this.#flush();
    };
    // A running timer would keep the session in memory.
    if (held?.isHeld === true) held.timer = setTimeout(() => decide(false), mostMs).unref();
    return {
      release: () => decide(false),
      drop: () => decide(true),
      get isOpen() {
        return held?.isHeld === true;
      },
    };
  }

  releaseAll(): void {
    for (const waiting of this.#waiting) unhold(waiting);
    this.#flush();
  }

  #flush(): void {
    for (let next = this.#waiting[0]; next?.isHeld === false; next = this.#waiting[0]) {
      this.#waiting.shift();
      if (next.isDropped) continue;
      this.#sink.send(next.event, sentLater(next.envelope));
      this.#flushedAt = now();
    }
  }

  #isEarlier(envelope: OpenEnvelope): boolean {
    return this.#flushedAt !== undefined && !isSince(readEventTime(envelope), this.#flushedAt);
  }
}

function unhold(waiting: Waiting): void {
  waiting.isHeld = false;
  clearTimeout(waiting.timer);
}
