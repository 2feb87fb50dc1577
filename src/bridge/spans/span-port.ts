import {
  type Attributes,
  context,
  INVALID_TRACEID,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import type { Instant } from "../../events/door.ts";
import { VERSION } from "../../version.ts";
import type { Reporter } from "../report.ts";
import { idSlot } from "./id-generator.ts";
import { SpanHandle } from "./span-handle.ts";
import { isTracingSuppressed } from "./suppressed-tracing.ts";

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
  readonly #live: boolean;

  /**
   * @param tracer asked for each span until it is there: a global provider may come late.
   * @param live whether the active context of this process counts.
   */
  constructor(tracer: () => Tracer, reporter: Reporter, live: boolean) {
    this.#tracer = tracer;
    this.#reporter = reporter;
    this.#live = live;
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
    // Our contexts are of our own making: what the active one asks for, the tracer would not see. What
    // is under a span that records does too: half a run is worth nothing, and looking costs.
    if (parent?.recording !== true && this.#live && isTracingSuppressed(context.active())) {
      return unrecorded(traceId, spanId);
    }
    idSlot.spanId = spanId;
    // A parent from before the SDK was there has no valid ids: the span is the first of its trace. One
    // that was recorded has: to compare its trace id each time would be half a percent of a run.
    const first =
      parent === undefined || (!parent.recorded && parent.spanContext.traceId === INVALID_TRACEID);
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
      return unrecorded(traceId, spanId);
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

function unrecorded(traceId: string, spanId: string): SpanHandle {
  return new SpanHandle(trace.wrapSpanContext({ traceId, spanId, traceFlags: 0 }));
}

/** @param provider default: the global one, also if it is registered later. */
export function tracerOf(provider: TracerProvider | undefined): () => Tracer {
  const tracer = (provider ?? trace).getTracer("entelix-otel", VERSION);
  return () => tracer;
}
