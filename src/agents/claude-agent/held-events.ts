import { type AgentEvent, sentLater } from "../../events/door.ts";
import type { OpenEnvelope, SafeSink } from "../core/safe-sink.ts";

/** Most events that wait. Above it, all of them are sent. */
const MOST_WAITING = 1_000;

/** An event that may be taken back until it is released. */
export interface HeldEvent {
  /** Sends it, and what waits behind it. */
  release(): void;
  /** Takes it back. Does nothing after it was sent. */
  drop(): void;
  readonly isOpen: boolean;
}

interface Waiting {
  readonly event: AgentEvent;
  readonly envelope: OpenEnvelope;
  isHeld: boolean;
  isDropped: boolean;
  /** Runs while it is held. */
  timer?: NodeJS.Timeout;
}

/**
 * Sends the events of a session in order. One that is held makes the later ones wait: the start of a tool
 * call is only true once its permission is decided. Events that waited say when they happened.
 */
export class HeldEvents {
  readonly #sink: Pick<SafeSink, "send">;
  readonly #waiting: Waiting[] = [];
  #isHolding = false;

  constructor(sink: Pick<SafeSink, "send">) {
    this.#sink = sink;
  }

  send(event: AgentEvent, envelope: OpenEnvelope): void {
    if (!this.#isHolding && this.#waiting.length === 0) {
      this.#sink.send(event, envelope);
      return;
    }
    this.#waiting.push({ event, envelope, isHeld: this.#isHolding, isDropped: false });
    if (this.#waiting.length > MOST_WAITING) this.releaseAll();
  }

  /**
   * Holds the one event that `make` sends.
   *
   * @param mostMs after which it is released, if nobody does.
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
      letGo(held);
      held.isDropped = isDropped;
      this.#flush();
    };
    // It would keep the whole session in memory if it went on after the release.
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
    for (const waiting of this.#waiting) letGo(waiting);
    this.#flush();
  }

  #flush(): void {
    for (let next = this.#waiting[0]; next?.isHeld === false; next = this.#waiting[0]) {
      this.#waiting.shift();
      if (!next.isDropped) this.#sink.send(next.event, sentLater(next.envelope));
    }
  }
}

function letGo(waiting: Waiting): void {
  waiting.isHeld = false;
  clearTimeout(waiting.timer);
}
