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
 * A tracer provider that keeps every span. It has no queue, and reads no sampler and no span limits from the
 * environment, so that equal events give equal spans on every machine.
 */
export function createReplayProvider(resource: Resource, outlet: EndedSpans): TracerProvider {
  return {
    getTracer: (name, version, { schemaUrl } = {}) => {
      const scope = {
        name,
        ...(version === undefined ? {} : { version }),
        ...(schemaUrl === undefined ? {} : { schemaUrl }),
      };
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

  /** Not used, since the driver does not activate spans. */
  startActiveSpan(): never {
    throw new TypeError("a replay has no active spans");
  }
}

/** The context of a replayed span. Its validity is checked for each child. */
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

/** The service of the spans. */
export interface ServiceResource {
  readonly resource: Resource;
  readonly serviceName: string;
}

/** The specification's name of a service without a name. */
export const UNNAMED = "unknown_service";

/** The hint of a command if the service has no name. */
export const UNNAMED_HINT = `The spans belong to the service ${UNNAMED}: --service-name gives it its name.`;

/**
 * The resource of spans from a recording: the agent's service from the option, or from `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES`. It contains nothing of this process, machine or SDK, so that a second delivery
 * makes the identical span.
 *
 * @param fallback the default name.
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
