import { v7 as uuidv7 } from "uuid";
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

/** What stands in the envelope of every event of a run. */
export type RunEnvelope = Omit<EventEnvelope, "event_id" | "sequence" | "timestamp">;

/** An envelope that nobody else holds yet. */
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The events of one run on their way to its sink: one after the other, each with the time at which
 * it happened (`details.happened_at` of one that waited), however long the sink takes.
 *
 * It waits for a sink that returns a promise only; with any other it is as synchronous as the sink.
 */
export class EventLine {
  readonly #sink: AgentEventSink;
  readonly #envelope: RunEnvelope;
  readonly #onError: (error: unknown) => void;
  readonly #sequence = new SequenceCounter();
  readonly #ids: IdCounter;
  /** Resolves when the sink has taken, or refused, the last event; `undefined` when it has. */
  #tail: Promise<void> | undefined;
  /** The sink is being called, for an event that waited for nothing. */
  #isHanding = false;
  /** Resolves when the sink has that event; `undefined` where it was not asked for. */
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
   * Sends an event that the run goes on without. Never throws, never rejects.
   *
   * @param details what is known of this event, beside what every event of the run says.
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
   * Sends an event that has to be taken, and without which nothing may follow: throws, or rejects,
   * with the sink's error, and then nothing more is sent, what already waits included.
   */
  insist(event: AgentEvent, details?: EventDetails): void | Promise<void> {
    try {
      return this.#enqueue(event, details, (sent) => sent);
    } catch (error) {
      this.#isClosed = true;
      throw error;
    }
  }

  /** @param answer makes of the promise of the sink the one that the sender gets. */
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
    // What every event of the run says is one object for all of them.
    if (details !== undefined) envelope.details = { ...this.#envelope.details, ...details };
    const before = this.#tail ?? this.#handedOver();
    if (before !== undefined) {
      // Other runs of the thread send meanwhile.
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
      // What the sink sent meanwhile is behind this one already.
      this.#tail ??= after;
      return sent;
    } finally {
      this.#isHanding = false;
      this.#handed?.resolve(after);
      this.#handed = undefined;
    }
  }

  /** A sink that calls the run off while it is called, say, makes events that come behind its own. */
  #handedOver(): Promise<void> | undefined {
    if (!this.#isHanding) return undefined;
    this.#handed = new Deferred();
    return this.#handed.promise;
  }

  #hand(event: AgentEvent, envelope: EventEnvelope): void | Promise<void> {
    if (!this.#isClosed) return this.#sink.send(event, envelope);
  }

  /**
   * Resolves when the next event may be handed over. It comes of the very promise that the sender
   * waits for, so that the sender goes on first: the code of a call begins while the call is still the
   * newest that the sink knows, and so finds its own span where several have one id.
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

/** Characters of a UUID before its last 32 bits. */
const PREFIX_LENGTH = 28;

/**
 * New ids for the events and calls of one run, each a UUID v7: the last 32 bits count, all others are
 * drawn once. Drawing each anew would cost more than everything else that is done for an event.
 */
export class IdCounter {
  readonly #prefix = uuidv7().slice(0, PREFIX_LENGTH);
  #next = 0;

  next(): string {
    const count = this.#next;
    this.#next = (count + 1) % 2 ** 32;
    return this.#prefix + count.toString(16).padStart(8, "0");
  }
}
