import {
  type AgentEvent,
  type ContentNeed,
  type EventEnvelope,
  type InnerSink,
  type SpanActivator,
  type SpanTarget,
  withSpanOf,
} from "../../events/door.ts";
import type { Price } from "../runtime/door.ts";

/** What the adapters of a process report, and where. */
export interface Reporting {
  readonly sink: AgentSink;
  readonly tenant: string;
  readonly price: Price | undefined;
}

/** The sink of a process. Created with the first event, so that the application can set up OpenTelemetry first. */
export class AgentSink implements InnerSink, SpanActivator {
  readonly contentNeed: ContentNeed;
  readonly #make: () => InnerSink;
  #made: InnerSink | undefined;

  constructor(contentNeed: ContentNeed, make: () => InnerSink) {
    this.contentNeed = contentNeed;
    this.#make = make;
  }

  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    this.#made ??= this.#make();
    return this.#made.send(event, envelope);
  }

  withSpan<T>(target: SpanTarget, work: () => T): T {
    return withSpanOf(this.#made, target, work);
  }

  async forceFlush(): Promise<void> {
    await this.#made?.forceFlush?.();
  }
}
