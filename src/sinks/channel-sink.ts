import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";
import { BoundedChannel } from "./bounded-channel.ts";
import type { ClosableSink } from "./closable-sink.ts";
import { Receiver } from "./receiver.ts";
import { checkedCapacity } from "./ring.ts";
import { type SentEvent, sentEvent } from "./sent-event.ts";

/** Options of {@link ChannelSink}. */
export interface ChannelOptions {
  /** Most events held for the receiver, 1 to 2^24; further sends wait. Default 1,024. */
  readonly capacity?: number | undefined;
  /** Most sends that may wait at a time, 1 to 2^24; further ones reject. Default 10,000. */
  readonly maxWaiting?: number | undefined;
}

/**
 * Hands events to one receiver elsewhere in the process, and loses none: while the buffer is full,
 * `send` waits, and so does the agent.
 *
 * Once the receiver is closed, waiting and later sends reject with a `cancelled` `AgentError`, which
 * stops a run at `started` or `complete`. A receiver closed with `close()` can still be read to the
 * end of what it holds. `shutdown()` ends the channel from the agent's side: the receiver gets all
 * that was sent, then is done. Upstream: `ChannelSink` of entelix-agents.
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
  readonly #channel: BoundedChannel<SentEvent<S>>;
  /** The reading end. There is one: two loops over it share the events between them. */
  readonly receiver: Receiver<SentEvent<S>>;

  /** @throws RangeError when an option is out of its range. */
  constructor(options: ChannelOptions = {}) {
    this.#channel = new BoundedChannel(
      checkedCapacity(options.capacity ?? 1024, "capacity"),
      checkedCapacity(options.maxWaiting ?? 10_000, "maxWaiting"),
    );
    this.receiver = new Receiver(this.#channel);
  }

  /** Events held for the receiver now. */
  get buffered(): number {
    return this.#channel.buffered;
  }

  /** Sends that wait for room now. */
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
