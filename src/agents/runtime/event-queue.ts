import {
  type AgentEvent,
  type AgentEventSink,
  Deferred,
  type EventEnvelope,
  isPromise,
  sentLater,
} from "../../events/door.ts";
import type { OpenEnvelope } from "../writer/door.ts";

/**
 * Sends the events of one run to its sink in order, one at a time. An event that waited has `details.happened_at`.
 *
 * It only waits for sinks that return a promise. With other sinks it is synchronous.
 */
export class EventQueue {
  readonly #sink: AgentEventSink;
  readonly #onError: (error: unknown) => void;
  /** Resolves when the sink has accepted or refused the last event. `undefined`: nothing is pending. */
  #tail: Promise<void> | undefined;
  /** Whether the sink is being called, for an event that did not wait. */
  #isHanding = false;
  /** Resolves when the sink has that event. `undefined`: no event waits for it. */
  #handed: Deferred<void> | undefined;
  #isClosed = false;
  /** Number of events that the sink refused while the run continued. */
  failures = 0;

  constructor(sink: AgentEventSink, onError: (error: unknown) => void) {
    this.#sink = sink;
    this.#onError = onError;
  }

  /**
   * Sends one event. The failure of most events does not stop the run: it never throws or rejects for them.
   *
   * @throws (or rejects) with the sink's error, if it must accept the event: `started` and `complete`. No event is sent
   *    after that, including those that already wait.
   */
  send(event: AgentEvent, envelope: OpenEnvelope): void | Promise<void> {
    const isRequired = event.type === "started" || event.type === "complete";
    try {
      return this.#enqueue(event, envelope, isRequired);
    } catch (error) {
      if (!isRequired) return this.#failed(error);
      this.#isClosed = true;
      throw error;
    }
  }

  #enqueue(event: AgentEvent, envelope: OpenEnvelope, isRequired: boolean): void | Promise<void> {
    // Maps the sink's promise to the promise for the sender.
    const answer = (sent: Promise<void>) =>
      isRequired ? sent : sent.catch((error: unknown) => this.#failed(error));
    const before = this.#tail ?? this.#handedOver();
    if (before !== undefined) {
      // Other runs of the thread may send meanwhile.
      const sent = answer(before.then(() => this.#hand(event, sentLater(envelope))));
      this.#tail = this.#after(sent);
      return sent;
    }
    this.#isHanding = true;
    let after: Promise<void> | undefined;
    try {
      const taken = this.#hand(event, envelope);
      if (!isPromise(taken)) return undefined;
      const sent = answer(Promise.resolve(taken));
      after = this.#after(sent);
      // Events that the sink sent meanwhile already wait behind this one.
      this.#tail ??= after;
      return sent;
    } finally {
      this.#isHanding = false;
      this.#handed?.resolve(after);
      this.#handed = undefined;
    }
  }

  /**
   * The promise of the current call of the sink, if it sends an event itself, for example because it aborts the run.
   */
  #handedOver(): Promise<void> | undefined {
    if (!this.#isHanding) return undefined;
    this.#handed = new Deferred();
    return this.#handed.promise;
  }

  #hand(event: AgentEvent, envelope: EventEnvelope): void | Promise<void> {
    if (!this.#isClosed) return this.#sink.send(event, envelope);
  }

  /**
   * Resolves when the next event may be sent. It derives from the sender's promise, so that the sender continues
   * first. The code of a call then starts while its call is still the newest of the sink, and finds its own span even
   * if several have the same ID.
   */
  #after(sent: Promise<void>): Promise<void> {
    const settle = () => {
      if (this.#tail === after) this.#tail = undefined;
    };
    const after: Promise<void> = sent.then(settle, () => {
      this.#isClosed = true;
      settle();
    });
    return after;
  }

  #failed(error: unknown): void {
    this.failures += 1;
    this.#onError(error);
  }
}
