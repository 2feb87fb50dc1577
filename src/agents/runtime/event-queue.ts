import {
  type AgentEvent,
  type AgentEventSink,
  Deferred,
  type EventDetails,
  type EventEnvelope,
  type Instant,
  isPromise,
  now,
  SequenceCounter,
  sentLater,
} from "../../events/door.ts";
import type { IdCounter } from "../writer/door.ts";

/** Envelope fields that all events of a run have. */
export type RunEnvelope = Omit<EventEnvelope, "event_id" | "sequence" | "timestamp">;

/** A new envelope, which may still be changed. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Sends the events of one run to its sink in order, one at a time. Each has the time at which it happened. An event
 * that waited also has `details.happened_at`.
 *
 * It only waits for sinks that return a promise. With other sinks it is synchronous.
 */
export class EventQueue {
  readonly #sink: AgentEventSink;
  readonly #envelope: RunEnvelope;
  readonly #onError: (error: unknown) => void;
  readonly #sequence = new SequenceCounter();
  readonly #ids: IdCounter;
  /** Resolves when the sink has accepted or refused the last event. `undefined`: nothing is pending. */
  #tail: Promise<void> | undefined;
  /** Whether the sink is being called, for an event that did not wait. */
  #isHanding = false;
  /** Resolves when the sink has that event. `undefined`: no event waits for it. */
  #handed: Deferred<void> | undefined;
  #isClosed = false;
  /** Number of events that the sink refused while the run continued. */
  failures = 0;

  constructor(
    sink: AgentEventSink,
    envelope: RunEnvelope,
    ids: IdCounter,
    onError: (error: unknown) => void,
  ) {
    this.#sink = sink;
    this.#envelope = envelope;
    this.#ids = ids;
    this.#onError = onError;
  }

  /**
   * Sends an event whose failure does not stop the run. Never throws or rejects.
   *
   * @param details of this event, added to those of all events of the run.
   */
  send(event: AgentEvent, details?: EventDetails): void | Promise<void> {
    try {
      return this.#enqueue(event, details, (sent) =>
        sent.catch((error: unknown) => this.#failed(error)),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Sends an event that the sink must accept. Throws, or rejects with, the sink's error. No event is sent after that,
   * including those that already wait.
   */
  sendRequired(event: AgentEvent, details?: EventDetails): void | Promise<void> {
    try {
      return this.#enqueue(event, details, (sent) => sent);
    } catch (error) {
      this.#isClosed = true;
      throw error;
    }
  }

  /** @param answer maps the sink's promise to the promise for the sender. */
  #enqueue(
    event: AgentEvent,
    details: EventDetails | undefined,
    answer: (sent: Promise<void>) => Promise<void>,
  ): void | Promise<void> {
    // Spread last: Node 20 is slow to add fields after a spread.
    const envelope: Writable<EventEnvelope> & { timestamp: Readonly<Instant> } = {
      event_id: this.#ids.next(),
      sequence: this.#sequence.next(),
      timestamp: now(),
      ...this.#envelope,
    };
    // A new object, because all events of the run share `#envelope.details`.
    if (details !== undefined) envelope.details = { ...this.#envelope.details, ...details };
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
