import {
  type AgentEvent,
  type AgentEventSink,
  type ContentNeed,
  callErrorHook,
  contentNeedOf,
  isPromise,
} from "../../events/door.ts";
import type { OpenEnvelope } from "../writer/door.ts";

export interface SafeSinkOptions {
  readonly sink: AgentEventSink;
  /** Called with errors of the sink. Its own errors are dropped. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Sends events from callbacks of a framework. Errors of the sink are counted in `failures` and never reach the
 * framework.
 */
export class SafeSink {
  readonly sink: AgentEventSink;
  readonly #onError: ((error: unknown) => void) | undefined;
  /** Sends whose promise is pending. */
  readonly #pending = new Set<Promise<void>>();
  readonly contentNeed: ContentNeed;
  /** Number of events that the sink refused. */
  failures = 0;

  constructor(options: SafeSinkOptions) {
    this.sink = options.sink;
    this.contentNeed = contentNeedOf([options.sink]);
    this.#onError = options.onError;
  }

  /** Sends one event without waiting for the sink. */
  send(event: AgentEvent, envelope: OpenEnvelope): void {
    try {
      const sent: unknown = this.sink.send(event, envelope);
      // `send: (event) => list.push(event)` returns a number. The event is accepted.
      if (isPromise(sent)) this.#follow(Promise.resolve(sent));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Resolves when the sink has accepted or refused all events. Never rejects. */
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
    callErrorHook(this.#onError, error);
  }
}
