import type { AgentEvent } from "../agent-event.ts";
import { now } from "../clock.ts";
import { property } from "../errors/thrown.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkGiven, checkGivenFunction, describe } from "../option-checks.ts";
import { isPromise } from "../promises.ts";
import type { AgentEventSink, ClosableSink, ContentNeed, InnerSink } from "./agent-event-sink.ts";
import {
  contentNeedOf,
  type SpanActivator,
  type SpanTarget,
  withSpanOf,
} from "./agent-event-sink.ts";
import { Passage, RunOrder } from "./run-order.ts";

/**
 * Sends every event to several sinks, one after the other in the order given.
 *
 * It stops at the first error and passes it to the sender, so later sinks do not receive that event. Put sinks that
 * must succeed first, and wrap sinks that may fail in a `FailOpenSink`. If all sinks are synchronous, `send` is
 * synchronous. Every sink receives a run's events in the order in which they were sent, even if the sender does not
 * await `send`. An event without a time gets one, so that all sinks have the same. An invalid time is passed on. Each
 * sink counts it and uses its own clock, so a recording has another time than the spans. In Rust: `FanOutSink` of
 * entelix-agents.
 *
 * @example
 * new FanOutSink([auditSink, new FailOpenSink(otelSink)]);
 */
export class FanOutSink<S = unknown> implements AgentEventSink<S>, ClosableSink, SpanActivator {
  readonly #sinks: readonly InnerSink<S>[];
  readonly #order = new RunOrder();

  /** @throws TypeError if one of them is not a sink. */
  constructor(sinks: Iterable<InnerSink<S>>) {
    const given: unknown = sinks;
    if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
      throw new TypeError(`sinks: expected a list of sinks, got ${describe(given)}`);
    }
    this.#sinks = [...sinks];
    for (const [at, sink] of this.#sinks.entries()) checkGiven(sink, `sinks[${at}]`, "send");
  }

  send(event: AgentEvent<S>, given?: EventEnvelope): void | Promise<void> {
    const ahead = this.#order.ahead(event);
    const envelope = timed(given);
    let sent = 0;
    for (const sink of this.#sinks) {
      const taken = sink.send(event, envelope);
      sent += 1;
      const waits = ahead.length > 0 && sent < this.#sinks.length;
      if (!isPromise(taken) && !waits) continue;
      const rest = this.#sendRest(taken, sent, event, envelope, ahead);
      // An agent may ignore the outcome of other events. An unhandled rejection would end its process.
      const type = property(event, "type");
      if (type !== "started" && type !== "complete") rest.catch(ignore);
      return rest;
    }
  }

  async #sendRest(
    taken: unknown,
    sent: number,
    event: AgentEvent<S>,
    envelope: EventEnvelope | undefined,
    ahead: readonly Passage[],
  ): Promise<void> {
    if (sent === this.#sinks.length) {
      await taken;
      return;
    }
    const passage = new Passage(sent, this.#sinks.length, ahead);
    this.#order.begin(event, passage);
    try {
      await taken;
      for (const [at, sink] of this.#sinks.entries()) {
        if (at < sent) continue;
        await passage.turn(at);
        const more = sink.send(event, envelope);
        passage.passed(at);
        await more;
      }
    } finally {
      passage.end();
    }
  }

  get contentNeed(): ContentNeed {
    return contentNeedOf(this.#sinks);
  }

  /** Calls `work` inside the target's span of the first sink that has an open one. */
  withSpan<T>(target: SpanTarget, work: () => T): T {
    checkGivenFunction(work, "work");
    // The innermost span counts. A sink that wraps others cannot know whether one of them has a span.
    const innermostFirst = (inner: () => T, sink: InnerSink<S>) => () =>
      withSpanOf(sink, target, inner);
    return this.#sinks.reduce(innermostFirst, work)();
  }

  /** Flushes all sinks at once. If any fails, it rejects when all have ended, with the error or an AggregateError. */
  forceFlush(): Promise<void> {
    return this.#onAll("forceFlush");
  }

  /**
   * Shuts all sinks down at once. If any fails, it rejects when all have ended, with the error or an AggregateError.
   */
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

/** Reads the clock once. Otherwise each sink would, and a span and its recording would have different times. */
function timed(envelope: EventEnvelope | undefined): EventEnvelope | undefined {
  try {
    // Untyped programs may send `null`.
    return (envelope?.timestamp ?? undefined) === undefined
      ? { ...envelope, timestamp: now() }
      : envelope;
  } catch {
    // Each sink refuses an unreadable envelope itself.
    return envelope;
  }
}

function ignore(): void {}
