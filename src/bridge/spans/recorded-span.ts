import type {
  Attributes,
  AttributeValue,
  Context,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanOptions,
  SpanStatus,
  TimeInput,
  Tracer,
} from "@opentelemetry/api";

/** Uses the attributes of spans when they are complete, which the API cannot read. */
export interface SpanFinisher {
  /** @param attributes of the start. */
  takes(attributes: Attributes): boolean;
  /** The attributes that the span starts with. Default: those given. */
  opening?(attributes: Attributes): Attributes;
  /** Whether the span does not get this attribute before its end. */
  withholds?(name: string): boolean;
  /** Called before the span ends. It can set attributes on it. */
  finish(span: Span, attributes: Attributes, at: TimeInput | undefined): void;
}

/**
 * A tracer whose spans remember their attributes for finishers.
 *
 * @param onError called if a finisher throws. The span ends in any case.
 */
export function recordingTracer(
  tracer: () => Tracer,
  finishers: readonly SpanFinisher[],
  onError: (error: unknown) => void,
): () => Tracer {
  if (finishers.length === 0) return tracer;
  const startSpan = (name: string, options: SpanOptions = {}, context?: Context): Span => {
    const { attributes = {} } = options;
    // No list for the many spans that nobody takes: this runs at each start.
    let taking: SpanFinisher[] | undefined;
    for (const finisher of finishers) {
      if (!takes(finisher, attributes, onError)) continue;
      taking ??= [];
      taking.push(finisher);
    }
    if (taking === undefined) return tracer().startSpan(name, options, context);
    const opening = taking.reduce((all, each) => each.opening?.(all) ?? all, attributes);
    const span = tracer().startSpan(name, { ...options, attributes: opening }, context);
    if (!span.isRecording()) return span;
    return new RecordedSpan(span, { ...attributes }, taking, onError);
  };
  const recording: Tracer = {
    startSpan,
    startActiveSpan: () => {
      throw new TypeError("the bridge activates no span");
    },
  };
  return () => recording;
}

function takes(
  finisher: SpanFinisher,
  attributes: Attributes,
  onError: (error: unknown) => void,
): boolean {
  try {
    return finisher.takes(attributes);
  } catch (error) {
    // For example the application's logger provider. The span starts in any case.
    onError(error);
    return false;
  }
}

class RecordedSpan implements Span {
  readonly #span: Span;
  readonly #attributes: Attributes;
  readonly #finishers: readonly SpanFinisher[];
  readonly #onError: (error: unknown) => void;

  constructor(
    span: Span,
    attributes: Attributes,
    finishers: readonly SpanFinisher[],
    onError: (error: unknown) => void,
  ) {
    this.#span = span;
    this.#attributes = attributes;
    this.#finishers = finishers;
    this.#onError = onError;
  }

  spanContext(): SpanContext {
    return this.#span.spanContext();
  }

  setAttribute(name: string, value: AttributeValue): this {
    this.#attributes[name] = value;
    const isWithheld = this.#finishers.some((each) => each.withholds?.(name) === true);
    if (!isWithheld) this.#span.setAttribute(name, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.setAttribute(name, value);
    }
    return this;
  }

  addEvent(name: string, attributes?: Attributes | TimeInput, at?: TimeInput): this {
    this.#span.addEvent(name, attributes, at);
    return this;
  }

  addLink(link: Link): this {
    this.#span.addLink(link);
    return this;
  }

  addLinks(links: Link[]): this {
    this.#span.addLinks(links);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#span.setStatus(status);
    return this;
  }

  updateName(name: string): this {
    this.#span.updateName(name);
    return this;
  }

  end(at?: TimeInput): void {
    for (const finisher of this.#finishers) {
      try {
        finisher.finish(this.#span, this.#attributes, at);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#span.end(at);
  }

  isRecording(): boolean {
    return this.#span.isRecording();
  }

  recordException(exception: Exception, at?: TimeInput): void {
    this.#span.recordException(exception, at);
  }
}
