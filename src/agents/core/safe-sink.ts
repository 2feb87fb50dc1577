import {
  type AgentEvent,
  type AgentEventSink,
  type ContentNeed,
  contentNeedOf,
  type EventDetails,
  type EventEnvelope,
  type Instant,
  isPromise,
  tellHook,
} from "../../events/door.ts";

/** An envelope that may still change. The events of an adapter always have an id and a time. */
export type OpenEnvelope = { -readonly [K in keyof EventEnvelope]: EventEnvelope[K] } & {
  event_id: string;
  timestamp: string | Readonly<Instant>;
};

/** The same envelope, with what is known of this event beside what every event of its run says. */
export function withDetails(
  envelope: OpenEnvelope,
  details: EventDetails | undefined,
): OpenEnvelope {
  if (details !== undefined) envelope.details = { ...envelope.details, ...details };
  return envelope;
}

export interface SafeSinkOptions {
  readonly sink: AgentEventSink;
  /** Called with what the sink threw; what it throws itself is dropped. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Sends events from inside a framework's callbacks: no error of the sink reaches the framework. Events
 * that the sink did not take are counted.
 */
export class SafeSink {
  readonly #sink: AgentEventSink;
  readonly #onError: ((error: unknown) => void) | undefined;
  /** Sends whose promise has not settled. */
  readonly #pending = new Set<Promise<void>>();
  readonly contentNeed: ContentNeed;
  /** Events that the sink did not take. */
  failures = 0;

  constructor(options: SafeSinkOptions) {
    this.#sink = options.sink;
    this.contentNeed = contentNeedOf([options.sink]);
    this.#onError = options.onError;
  }

  /** Sends one event, without waiting for it. */
  send(event: AgentEvent, envelope: OpenEnvelope): void {
    try {
      const sent: unknown = this.#sink.send(event, envelope);
      // `send: (event) => list.push(event)` answers with a number, and has taken it.
      if (isPromise(sent)) this.#follow(Promise.resolve(sent));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Resolves when the sink has taken, or refused, all that was sent. Never rejects. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #follow(sent: Promise<unknown>): void {
    const done = sent.then(
      () => void this.#pending.delete(done),
      (error: unknown) => {
        this.#pending.delete(done);
        this.#failed(error);
      },
    );
    this.#pending.add(done);
  }

  #failed(error: unknown): void {
    this.failures += 1;
    tellHook(this.#onError, error);
  }
}
