import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";
import { checkGiven } from "../events/option-checks.ts";
import type { AgentEventSink } from "./agent-event-sink.ts";
import type { ClosableSink, InnerSink } from "./closable-sink.ts";
import { type ContextCarrier, type InsidePlace, insideOf } from "./context-carrier.ts";
import { isPromise } from "./is-promise.ts";

/**
 * Sends every event to several sinks, one after the other in the order given.
 *
 * It stops at the first error, which is the sender's, so later sinks do not see that event. Put what
 * must succeed first, and a `FailOpenSink` around what may fail. It waits only for a sink that
 * returns a promise: among synchronous sinks `send` is synchronous too.
 * Upstream: `FanOutSink` of entelix-agents.
 *
 * @example
 * new FanOutSink([auditSink, new FailOpenSink(otelSink)]);
 */
export class FanOutSink<S = unknown> implements AgentEventSink<S>, ClosableSink, ContextCarrier {
  readonly #sinks: readonly InnerSink<S>[];

  /** @throws TypeError when one of them is no sink. */
  constructor(sinks: Iterable<InnerSink<S>>) {
    this.#sinks = [...sinks];
    for (const [at, sink] of this.#sinks.entries()) checkGiven(sink, `sinks[${at}]`, "send");
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void> {
    let sent = 0;
    for (const sink of this.#sinks) {
      const taken = sink.send(event, envelope);
      sent += 1;
      if (!isPromise(taken)) continue;
      const rest = this.#sendRest(taken, sent, event, envelope);
      // An agent may ignore what becomes of the others, and must not die of an unhandled rejection.
      if (event.type !== "started" && event.type !== "complete") rest.catch(ignore);
      return rest;
    }
  }

  async #sendRest(
    taken: PromiseLike<unknown>,
    sent: number,
    event: AgentEvent<S>,
    envelope: EventEnvelope | undefined,
  ): Promise<void> {
    await taken;
    for (const sink of this.#sinks.slice(sent)) await sink.send(event, envelope);
  }

  /** Calls `work` inside the span of the first sink that has an open one there. */
  inside<T>(place: InsidePlace, work: () => T): T {
    // Innermost is what counts. Whether a sink that wraps others carries anything, it can't tell.
    const innermostFirst = (inner: () => T, sink: InnerSink<S>) => () =>
      insideOf(sink, place, inner);
    return this.#sinks.reduce(innermostFirst, work)();
  }

  /** Flushes all sinks at once. Rejects when all are done, with the error or an AggregateError. */
  forceFlush(): Promise<void> {
    return this.#onAll("forceFlush");
  }

  /** Shuts all sinks down at once. Rejects when all are done, with the error or an AggregateError. */
  shutdown(): Promise<void> {
    return this.#onAll("shutdown");
  }

  async #onAll(method: "forceFlush" | "shutdown"): Promise<void> {
    const outcomes = await Promise.allSettled(this.#sinks.map(async (sink) => sink[method]?.()));
    const errors = outcomes
      .filter((outcome) => outcome.status === "rejected")
      .map((outcome): unknown => outcome.reason);
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      throw new AggregateError(errors, `${method}: ${errors.length} sinks failed`);
    }
  }
}

function ignore(): void {}
