import type { AgentEvent } from "../agent-event.ts";
import type { EventEnvelope } from "../event-envelope.ts";
import { checkGivenFunction } from "../option-checks.ts";

/**
 * Receives every lifecycle event of an agent, in order.
 *
 * If a sink throws or rejects at `started` or `complete`, the run stops. At every other event, the agent continues.
 * In Rust: `AgentEventSink<S>` of entelix-agents.
 *
 * @typeParam S the agent's state type.
 */
export interface AgentEventSink<S = unknown> {
  /**
   * Takes one event.
   *
   * @param envelope time, IDs and parents, which the event itself lacks. Default: none. The sink
   *   then reads the clock once, on entry.
   * @returns nothing if the event was handled synchronously, otherwise a promise.
   */
  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void>;

  /**
   * How much content it reads. It must not change. Adapters may leave the rest out of events, because converting the
   * messages of models is most of the cost of an event. Default `"all"`.
   */
  readonly contentNeed?: ContentNeed | undefined;
}

/**
 * How much content a sink reads. `tools`: inputs and outputs of tools. `rows`: the content of audit rows, which is
 * also the input of runs and the reason of denials. `all`: also messages to and from models, answers of runs, and
 * state.
 */
export type ContentNeed = "none" | "tools" | "rows" | "all";

/** From the most to the least. */
const NEEDS = ["all", "rows", "tools", "none"] as const satisfies readonly ContentNeed[];

/** The content that several sinks need together. */
export function contentNeedOf(sinks: readonly AgentEventSink<never>[]): ContentNeed {
  const needs = sinks.map(({ contentNeed }) => contentNeed ?? "all");
  return NEEDS.find((need) => needs.includes(need)) ?? "none";
}

/** Whether a sink reads the content of audit rows. */
export function readsRows(need: ContentNeed): boolean {
  return need === "rows" || need === "all";
}

/** Optional methods of a sink. Sinks that wrap others forward both calls. */
export interface ClosableSink {
  /** Resolves when everything sent so far was delivered. Rejects if the delivery failed. */
  forceFlush?(): Promise<void>;
  /** Releases the sink's resources. Do not send events afterwards. */
  shutdown?(): Promise<void>;
}

/**
 * A sink that another sink wraps: any {@link AgentEventSink}, with or without the closing methods.
 *
 * @typeParam S the agent's state type.
 */
export type InnerSink<S = unknown> = AgentEventSink<S> & ClosableSink;

/** An event as a sink received it, with its envelope if there was one. */
export interface SentEvent<S = unknown> {
  readonly event: AgentEvent<S>;
  readonly envelope?: EventEnvelope;
}

/** The arguments of one `send` as a value. */
export function sentEvent<S>(
  event: AgentEvent<S>,
  envelope: EventEnvelope | undefined,
): SentEvent<S> {
  return envelope === undefined ? { event } : { event, envelope };
}

/**
 * A run, or a tool call, model call or step of it. If several are given, the innermost counts. Fields are named as in
 * the events.
 */
export interface SpanTarget {
  readonly tenant_id: string;
  readonly run_id: string;
  /** ID of the tool call, or its `call_key` if it has one. */
  readonly tool_use_id?: string | undefined;
  readonly model_call_id?: string | undefined;
  readonly step_id?: string | undefined;
}

/** A sink that can run code inside the span of a run or call. A `Bridge` can. */
export interface SpanActivator {
  /**
   * Calls `work` while the target's span is active, so that spans made in `work` become its children. Without an open
   * span, it only calls `work`.
   *
   * @returns what `work` returns.
   */
  withSpan<T>(target: SpanTarget, work: () => T): T;
}

/** Whether a sink implements {@link SpanActivator}. */
export function isSpanActivator(sink: unknown): sink is SpanActivator {
  return (
    typeof sink === "object" &&
    sink !== null &&
    "withSpan" in sink &&
    typeof sink.withSpan === "function"
  );
}

/** Calls `work` inside the target's span, if the sink can. Sinks that wrap others use it. */
export function withSpanOf<T>(sink: unknown, target: SpanTarget, work: () => T): T {
  checkGivenFunction(work, "work");
  return isSpanActivator(sink) ? sink.withSpan(target, work) : work();
}
