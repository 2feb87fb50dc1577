import { type AgentEvent, eraseState } from "../agent-event.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkGiven } from "../option-checks.ts";
import type { AgentEventSink, ClosableSink, ContentNeed, InnerSink } from "./agent-event-sink.ts";
import {
  contentNeedOf,
  type SpanActivator,
  type SpanTarget,
  withSpanOf,
} from "./agent-event-sink.ts";

/**
 * Replaces the agent's state in `complete` by `null`, for a sink that must not receive it. Other events are forwarded
 * unchanged. A value that throws when it is read is not forwarded, because it may contain the state. In Rust:
 * `StateErasureSink` of entelix-agents.
 *
 * @typeParam S the agent's state type, which the wrapped sink does not receive.
 *
 * @example
 * new StateErasureSink<MyState>(sharedSink);
 */
export class StateErasureSink<S = unknown>
  implements AgentEventSink<S>, ClosableSink, SpanActivator
{
  readonly #inner: InnerSink<null>;

  /** @throws TypeError if `inner` is not a sink. */
  constructor(inner: InnerSink<null>) {
    checkGiven(inner, "inner", "send");
    this.#inner = inner;
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void> {
    let erased: AgentEvent<null>;
    try {
      erased = eraseState(event);
    } catch {
      return undefined;
    }
    return this.#inner.send(erased, envelope);
  }

  get contentNeed(): ContentNeed {
    return contentNeedOf([this.#inner]);
  }

  /** Calls `work` inside the wrapped sink's span, if there is one. */
  withSpan<T>(target: SpanTarget, work: () => T): T {
    return withSpanOf(this.#inner, target, work);
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  async shutdown(): Promise<void> {
    await this.#inner.shutdown?.();
  }
}
