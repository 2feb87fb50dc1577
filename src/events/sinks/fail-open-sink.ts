import type { AgentEvent } from "../agent-event.ts";
import { constructorName, textProperty } from "../errors/thrown.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkFunction, checkGiven } from "../option-checks.ts";
import { isPromise } from "../promises.ts";
import { checkEach } from "../unknown-options.ts";
import { callHook } from "../users-functions.ts";
import type { AgentEventSink, ClosableSink, ContentNeed, InnerSink } from "./agent-event-sink.ts";
import {
  contentNeedOf,
  type SpanActivator,
  type SpanTarget,
  withSpanOf,
} from "./agent-event-sink.ts";

/**
 * The step at which the wrapped sink failed: the type of an event, or the name of the closing
 * method. `not_an_event` is a value without a readable type.
 */
export type FailOpenStep = AgentEvent["type"] | "not_an_event" | "forceFlush" | "shutdown";

/** Called with each error that a {@link FailOpenSink} hides from the agent. */
export type FailOpenHandler = (error: unknown, step: FailOpenStep) => unknown;

/** Options of {@link FailOpenSink}. */
export interface FailOpenOptions {
  /**
   * Called with every error. Errors that it throws are ignored. Default: `process.emitWarning`,
   * with the code `ENTELIX_SINK_FAILED`.
   */
  readonly onError?: FailOpenHandler | undefined;
}

/**
 * Hides the errors of a sink from the agent: `send` succeeds even if the sink throws or rejects.
 *
 * Use it for sinks that a run does not depend on, such as telemetry. Every error is counted and
 * causes a warning. In Rust: `FailOpenSink` of entelix-agents.
 *
 * @example
 * new FailOpenSink(otelSink, { onError: (error) => logger.warn(error) });
 */
export class FailOpenSink<S = unknown> implements AgentEventSink<S>, ClosableSink, SpanActivator {
  readonly #inner: InnerSink<S>;
  readonly #onError: FailOpenHandler;
  #errors = 0;

  /** @throws TypeError if `inner` is not a sink, or `onError` not a function. */
  constructor(inner: InnerSink<S>, options: FailOpenOptions = {}) {
    checkGiven(inner, "inner", "send");
    this.#onError = checkEach(options, { onError: checkFunction }).onError ?? warn;
    this.#inner = inner;
  }

  /** Number of errors that it hid from the agent. */
  get errors(): number {
    return this.#errors;
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void> {
    try {
      const taken = this.#inner.send(event, envelope);
      if (isPromise(taken)) return this.#contain(() => taken, typeOf(event));
    } catch (error) {
      this.#report(error, typeOf(event));
    }
  }

  get contentNeed(): ContentNeed {
    return contentNeedOf([this.#inner]);
  }

  /** Calls `work` inside the wrapped sink's span, if there is one. Errors of `work` are passed on. */
  withSpan<T>(target: SpanTarget, work: () => T): T {
    return withSpanOf(this.#inner, target, work);
  }

  /** Flushes the wrapped sink. Errors are handled like those of events. */
  forceFlush(): Promise<void> {
    return this.#contain(() => this.#inner.forceFlush?.(), "forceFlush");
  }

  /** Shuts the wrapped sink down. Errors are handled like those of events. */
  shutdown(): Promise<void> {
    return this.#contain(() => this.#inner.shutdown?.(), "shutdown");
  }

  async #contain(run: () => unknown, step: FailOpenStep): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.#report(error, step);
    }
  }

  #report(error: unknown, step: FailOpenStep): void {
    this.#errors += 1;
    const onError = this.#onError;
    callHook(() => onError(error, step));
  }
}

function typeOf(event: AgentEvent): FailOpenStep {
  try {
    return event.type;
  } catch {
    return "not_an_event";
  }
}

function warn(error: unknown, step: FailOpenStep): void {
  const text = typeof error === "string" ? error : textProperty(error, "message");
  process.emitWarning(`a sink failed at ${step}: ${constructorName(error)}: ${text ?? ""}`, {
    type: "EntelixWarning",
    code: "ENTELIX_SINK_FAILED",
  });
}
