import type { AgentEvent } from "../agent-event.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkFunction } from "../option-checks.ts";
import { checkEach, checkedElsewhere } from "../unknown-options.ts";
import {
  type AgentEventSink,
  type ClosableSink,
  type SentEvent,
  sentEvent,
} from "./agent-event-sink.ts";
import { type DebugLine, debugOnce } from "./dropping-sink.ts";
import { Receiver, ReceiverQueue } from "./receiver.ts";
import { checkedCapacity } from "./ring.ts";

/** Options of {@link BroadcastSink}. */
export interface BroadcastOptions {
  /** Most buffered events for each subscriber, 1 to 2^24. Default 1,024. */
  readonly capacity?: number | undefined;
  /** Called once a process, at the first event without a subscriber. Default: not called. */
  readonly onDebug?: DebugLine | undefined;
}

/** An item for a subscriber: an event, or the number of events that it lost before the next one. */
export type BroadcastItem<S = unknown> = SentEvent<S> | Lagged;

/**
 * Sends events to any number of subscribers. The agent never waits and never fails because of it.
 *
 * A subscriber receives the events sent after it subscribed. If it reads too slowly, it loses the
 * oldest events and receives their number. `close()` on a subscription, or leaving its loop, frees
 * its buffer. After `shutdown()`, subscribers can read the events in their buffers, and further
 * events are dropped. In Rust: `BroadcastSink` of entelix-agents.
 *
 * @example
 * for await (const item of sink.subscribe()) {
 *   if ("lagged" in item) console.warn(`missed ${item.lagged} events`);
 *   else show(item.event);
 * }
 */
export class BroadcastSink<S = unknown> implements AgentEventSink<S>, ClosableSink {
  readonly #capacity: number;
  readonly #onDebug: DebugLine | undefined;
  readonly #subscribers = new Set<LaggingQueue<SentEvent<S>>>();
  #open = true;

  /** @throws TypeError if `onDebug` is not a function; RangeError if `capacity` is out of its range. */
  constructor(options: BroadcastOptions = {}) {
    const checks = { capacity: checkedElsewhere, onDebug: checkFunction };
    const { capacity, onDebug } = checkEach(options, checks);
    this.#capacity = checkedCapacity(capacity ?? 1024, "capacity");
    this.#onDebug = onDebug;
  }

  /** Number of current subscribers. */
  get subscribers(): number {
    return this.#subscribers.size;
  }

  /**
   * Subscribes to the events sent from now on. After `shutdown`, the subscription ends at once.
   */
  subscribe(): Receiver<BroadcastItem<S>> {
    const queue = new LaggingQueue<SentEvent<S>>(this.#capacity, (closed) => {
      this.#subscribers.delete(closed);
    });
    if (this.#open) this.#subscribers.add(queue);
    else queue.finish();
    return new Receiver<BroadcastItem<S>>(queue);
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void {
    if (this.#subscribers.size === 0) {
      debugOnce(this.#onDebug, "BroadcastSink: agent events are dropped, for nobody subscribed");
      return;
    }
    const item = sentEvent(event, envelope);
    for (const subscriber of this.#subscribers) subscriber.push(item);
  }

  async shutdown(): Promise<void> {
    this.#open = false;
    for (const subscriber of this.#subscribers) subscriber.finish();
    this.#subscribers.clear();
  }
}

/** Replaces items that a slow reader lost. */
export interface Lagged {
  /** Number of lost items before the next one. */
  readonly lagged: number;
}

/** A full queue drops its oldest item for the newest, and counts it. */
class LaggingQueue<T extends object> extends ReceiverQueue<T, T | Lagged> {
  readonly #onClose: (queue: LaggingQueue<T>) => void;
  #lagged = 0;

  /** @param onClose called when the reader closes it. */
  constructor(capacity: number, onClose: (queue: LaggingQueue<T>) => void) {
    super(capacity);
    this.#onClose = onClose;
  }

  push(item: T): void {
    if (this.give(item)) return;
    if (this.buffer.full) this.#lagged += 1;
    this.buffer.push(item);
  }

  protected override take(): T | Lagged | undefined {
    const lagged = this.#lagged;
    if (lagged === 0) return this.buffer.shift();
    this.#lagged = 0;
    return { lagged };
  }

  /** A closed subscriber needs no more items. */
  override close(): void {
    this.finish();
    this.#lagged = 0;
    this.buffer.clear();
    this.#onClose(this);
  }
}
