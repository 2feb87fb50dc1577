import type { AgentEvent } from "../agent-event.ts";
import { AgentError } from "../errors/agent-error.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkEach, checkedElsewhere } from "../unknown-options.ts";
import {
  type AgentEventSink,
  type ClosableSink,
  type SentEvent,
  sentEvent,
} from "./agent-event-sink.ts";
import { Receiver, ReceiverQueue } from "./receiver.ts";
import { checkedCapacity, Ring } from "./ring.ts";

/** Options of {@link ChannelSink}. */
export interface ChannelOptions {
  /** Most buffered events, 1 to 2^24. Further sends wait. Default 1,024. */
  readonly capacity?: number | undefined;
  /** Most waiting sends, 1 to 2^24. Further sends reject. Default 10,000. */
  readonly maxWaiting?: number | undefined;
}

/**
 * Passes events to one receiver in the same process without loss. While the buffer is full, `send`
 * waits, and so does the agent.
 *
 * Once the receiver is closed, waiting and later sends reject with a `cancelled` `AgentError`, which stops a run at
 * `started` or `complete`. After `close()`, the receiver can still be read to the end of its buffer. `shutdown()`
 * ends the channel from the agent's side: the receiver gets all events that were sent, then ends. In Rust:
 * `ChannelSink` of entelix-agents.
 *
 * @example
 * const sink = new ChannelSink({ capacity: 256 });
 * const reading = (async () => {
 *   for await (const { event, envelope } of sink.receiver) await store(event, envelope);
 * })();
 * await run(sink);
 * await sink.shutdown();
 * await reading;
 */
export class ChannelSink<S = unknown> implements AgentEventSink<S>, ClosableSink {
  readonly #channel: BoundedQueue<SentEvent<S>>;
  /** The reading end. If two loops read it, they share the events. */
  readonly receiver: Receiver<SentEvent<S>>;

  /** @throws RangeError if an option is out of its range. */
  constructor(options: ChannelOptions = {}) {
    const checks = { capacity: checkedElsewhere, maxWaiting: checkedElsewhere };
    const { capacity, maxWaiting } = checkEach(options, checks);
    this.#channel = new BoundedQueue(
      checkedCapacity(capacity ?? 1024, "capacity"),
      checkedCapacity(maxWaiting ?? 10_000, "maxWaiting"),
    );
    this.receiver = new Receiver(this.#channel);
  }

  /** Number of buffered events. */
  get buffered(): number {
    return this.#channel.buffered;
  }

  /** Number of sends that wait for room. */
  get waiting(): number {
    return this.#channel.waiting;
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void> {
    return this.#channel.send(sentEvent(event, envelope));
  }

  async shutdown(): Promise<void> {
    this.#channel.finish();
  }
}

interface WaitingSend<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (error: AgentError) => void;
}

/** A queue whose senders wait, in order, while the buffer is full. */
class BoundedQueue<T extends object> extends ReceiverQueue<T, T> {
  readonly #sends: Ring<WaitingSend<T>>;

  constructor(capacity: number, maxWaiting: number) {
    super(capacity);
    this.#sends = new Ring(maxWaiting);
  }

  /** Buffered items, without those of waiting sends. */
  get buffered(): number {
    return this.buffer.length;
  }

  get waiting(): number {
    return this.#sends.length;
  }

  /** Returns a promise if the item must wait for room. It rejects once the channel is closed. */
  send(item: T): void | Promise<void> {
    if (!this.isOpen) return observed(Promise.reject(AgentError.cancelled()));
    if (this.give(item)) return;
    if (!this.buffer.full) return this.buffer.push(item);
    if (this.#sends.full) {
      const message = `${this.#sends.length} sends already wait for the receiver: await each send`;
      return observed(Promise.reject(AgentError.config(message)));
    }
    return observed(
      new Promise((resolve, reject) => {
        this.#sends.push({ item, resolve, reject });
      }),
    );
  }

  protected override take(): T | undefined {
    const item = this.buffer.shift();
    const send = item === undefined ? undefined : this.#sends.shift();
    if (send !== undefined) {
      this.buffer.push(send.item);
      send.resolve();
    }
    return item;
  }

  /** Waiting sends fail. Buffered items can still be received. */
  override close(): void {
    this.finish();
    for (let send = this.#sends.shift(); send !== undefined; send = this.#sends.shift()) {
      send.reject(AgentError.cancelled());
    }
  }
}

/**
 * Marks a rejection as handled. An agent may ignore the outcome of a send, except for two events, and an unhandled
 * rejection would end its process. A caller that awaits the promise still gets the error.
 */
function observed(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
