import {
  type Attributes,
  INVALID_TRACEID,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Instant } from "../events/instant.ts";
import { idSlot } from "./id-slot.ts";
import type { Reporter } from "./report.ts";
import { SpanHandle } from "./span-handle.ts";

/**
 * Starts spans on a tracer with the ids they are to have, ends them once, and contains what the
 * provider, its sampler or its processors throw.
 */
export class SpanPort {
  /** Recording spans whose ids came from another id generator. */
  foreignIds = 0;
  /** Calls of the provider that threw. */
  failures = 0;
  readonly #tracer: () => Tracer;
  readonly #reporter: Reporter;

  /** @param tracer asked for each span until it is there: a global provider may come late. */
  constructor(tracer: () => Tracer, reporter: Reporter) {
    this.#tracer = tracer;
    this.#reporter = reporter;
  }

  start(
    name: string,
    attributes: Attributes,
    at: Instant,
    parent: SpanHandle | undefined,
    traceId: string,
    spanId: string,
    links: Link[] | undefined,
    kind: SpanKind = SpanKind.INTERNAL,
  ): SpanHandle {
    idSlot.spanId = spanId;
    // A parent from before the SDK was there has no valid ids: the span is the first of its trace.
    const first = parent === undefined || parent.spanContext.traceId === INVALID_TRACEID;
    idSlot.traceId = first ? traceId : undefined;
    try {
      const options =
        links === undefined
          ? { kind, startTime: at, attributes }
          : { kind, startTime: at, attributes, links };
      const span = this.#tracer().startSpan(name, options, parent ?? ROOT_CONTEXT);
      const handle = new SpanHandle(span);
      if (handle.recording && handle.spanContext.spanId !== spanId) this.#noteForeignIds(handle);
      return handle;
    } catch (error) {
      this.contain(error);
      return new SpanHandle(trace.wrapSpanContext({ traceId, spanId, traceFlags: 0 }));
    } finally {
      // What the generator did not take must not become the id of somebody else's span.
      idSlot.spanId = undefined;
      idSlot.traceId = undefined;
    }
  }

  /** Ends the span and lets go of it. */
  end(handle: SpanHandle, at: Instant): void {
    if (!handle.recording) return;
    try {
      handle.span.end(at);
    } catch (error) {
      this.contain(error);
    } finally {
      handle.release();
    }
  }

  /** Counts and reports what a call of the provider threw. */
  contain(error: unknown): void {
    this.failures++;
    this.#reporter.report(error, "tracer provider");
  }

  #noteForeignIds(handle: SpanHandle): void {
    handle.foreign = true;
    this.foreignIds++;
    if (this.foreignIds > 1) return;
    this.#reporter.report(
      new Error(
        "the tracer provider has another id generator: trace ids are not run ids. " +
          "Pass createIdGenerator() to it (docs/own-provider.md)",
      ),
      "id generator",
    );
  }
}
