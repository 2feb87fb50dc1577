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
import type { Reporter } from "../report.ts";
import { SCOPE } from "../scope.ts";
import { idSlot } from "./id-generator.ts";
import { SpanHandle } from "./span-handle.ts";
import { isTracingSuppressed } from "./suppressed-tracing.ts";

/**
 * Starts spans with given IDs on a tracer, ends them once, and catches errors of the provider, its sampler
 * and its processors.
 */
export class SpanPort {
  /** Number of recording spans whose IDs another ID generator chose. */
  foreignIds = 0;
  /** Number of calls of the provider that threw. */
  failures = 0;
  readonly #tracer: () => Tracer;
  readonly #reporter: Reporter;
  readonly #live: boolean;
  #onUnrecorded: (() => void) | undefined;

  /**
   * @param tracer called for each span until it returns one, since a global provider can be registered late.
   * @param live whether to use the active context of this process.
   * @param onUnrecorded called at the first span that does not record, in a live bridge.
   */
  constructor(tracer: () => Tracer, reporter: Reporter, live: boolean, onUnrecorded?: () => void) {
    this.#onUnrecorded = onUnrecorded;
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
    // The handle is the context, so the tracer does not see a suppression in the active one. It is checked
    // only without a recording parent, since half a run is useless, and the check costs time.
    if (parent?.recording !== true && this.#live && isTracingSuppressed(context.active())) {
      return unrecorded(traceId, spanId);
    }
    idSlot.spanId = spanId;
    // A parent from before the SDK was registered has invalid IDs, so the span begins a trace. A recorded
    // parent is valid. Comparing its trace ID each time would cost half a percent of a run.
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
      if (!handle.recording) this.#look();
      else if (handle.spanContext.spanId !== spanId) this.#noteForeignIds(handle);
      return handle;
    } catch (error) {
      this.contain(error);
      return unrecorded(traceId, spanId);
    } finally {
      // Unused IDs must not become those of another span.
      idSlot.spanId = undefined;
      idSlot.traceId = undefined;
    }
  }

  /** Ends the span, and drops the reference to it. */
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

  /** Counts and reports an error of the provider. */
  contain(error: unknown): void {
    this.failures++;
    this.#reporter.report(error, "tracer provider");
  }

  /** Once. */
  #look(): void {
    const look = this.#onUnrecorded;
    this.#onUnrecorded = undefined;
    if (this.#live) look?.();
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
  const tracer = (provider ?? trace).getTracer(...SCOPE);
  return () => tracer;
}
