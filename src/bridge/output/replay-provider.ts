import {
  type Context,
  context,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  type TraceState,
  trace,
} from "@opentelemetry/api";
import { envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { createIdGenerator } from "../spans/id-generator.ts";
import { type EndedSpans, type SpanOrigin, SpanRecord } from "./span-record.ts";

const ids = createIdGenerator();

/**
 * A tracer provider that keeps every span: nothing is sampled away, no queue drops, and neither a
 * sampler nor span limits come from the environment, so that the same events give the same spans
 * wherever they are replayed.
 */
export function createReplayProvider(resource: Resource, outlet: EndedSpans): TracerProvider {
  return {
    getTracer: (name, version) => {
      const scope = version === undefined ? { name } : { name, version };
      return new RecordTracer({ resource, scope, outlet });
    },
  };
}

class RecordTracer implements Tracer {
  readonly #origin: SpanOrigin;

  constructor(origin: SpanOrigin) {
    this.#origin = origin;
  }

  startSpan(name: string, options: SpanOptions = {}, within: Context = context.active()): Span {
    const parent = validParent(within);
    const spanId = ids.generateSpanId();
    const own = new RecordContext(parent?.traceId ?? ids.generateTraceId(), spanId);
    if (parent?.traceState !== undefined) own.traceState = parent.traceState;
    const { startTime } = options;
    if (!Array.isArray(startTime)) throw new TypeError("startTime: expected [s, ns]");
    const span = new SpanRecord(
      this.#origin,
      own,
      parent,
      name,
      options.kind ?? SpanKind.INTERNAL,
      startTime,
      options.attributes ?? {},
    );
    for (const link of options.links ?? []) span.addLink(link);
    this.#origin.outlet.onStart?.(span);
    return span;
  }

  /** The driver activates no spans. */
  startActiveSpan(): never {
    throw new TypeError("a replay has no active spans");
  }
}

/** The context of a span of our own. Whether it is valid is asked for each span below it. */
class RecordContext implements SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags = TraceFlags.SAMPLED;
  declare traceState?: TraceState;
  #isValid: boolean | undefined = undefined;

  constructor(traceId: string, spanId: string) {
    this.traceId = traceId;
    this.spanId = spanId;
  }

  get isValid(): boolean {
    this.#isValid ??= isSpanContextValid(this);
    return this.#isValid;
  }
}

function validParent(within: Context): SpanContext | undefined {
  const parent = trace.getSpanContext(within);
  if (parent === undefined) return undefined;
  const isValid = parent instanceof RecordContext ? parent.isValid : isSpanContextValid(parent);
  return isValid ? parent : undefined;
}

/** What spans say of the service they come from. */
export interface ServiceResource {
  readonly resource: Resource;
  readonly serviceName: string;
}

/** The name that the specification gives to a service without one. */
export const UNNAMED = "unknown_service";

/** What a command says where the service has no name. */
export const UNNAMED_HINT = `The spans belong to the service ${UNNAMED}: --service-name gives it its name.`;

/**
 * The resource of spans that are made again from a recording: that of the agent's service, as the
 * option or `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say, and nothing of this process,
 * this machine or this SDK, so that a second delivery makes the identical span.
 *
 * @param fallback the name where none is given.
 */
export function serviceResource(
  serviceName: string | undefined,
  fallback: string = UNNAMED,
): ServiceResource {
  const { attributes = {} } = envDetector.detect();
  const given = attributes["service.name"];
  const name = serviceName ?? (typeof given === "string" && given !== "" ? given : fallback);
  return {
    resource: resourceFromAttributes({ ...attributes, "service.name": name }),
    serviceName: name,
  };
}
