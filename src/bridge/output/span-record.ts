import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
} from "@opentelemetry/api";
import type { ReadableSpan, TimedEvent } from "@opentelemetry/sdk-trace";

/** The default limits of the specification, so that a replay gives the same spans everywhere. */
const MOST = 128;

const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };

/** Receives ended spans. */
export interface EndedSpans {
  /** Called with a started span, whose data grows until it ends. */
  onStart?(span: ReadableSpan): void;
  onEnd(span: ReadableSpan): void;
}

/** The common data of the spans of one tracer. */
export interface SpanOrigin {
  readonly resource: ReadableSpan["resource"];
  readonly scope: ReadableSpan["instrumentationScope"];
  readonly outlet: EndedSpans;
}

/**
 * The span of a replay. The SDK's span reads two clocks at each start and checks every attribute up to three
 * times, which took a fourth of a replay. Only the driver uses this class, so:
 *
 * - times are `[s, ns]`, and values have the declared types;
 * - it owns the attribute objects that it gets.
 */
export class SpanRecord implements Span, ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  endTime: HrTime;
  readonly parentSpanContext?: SpanContext;
  readonly attributes: Attributes;
  readonly links: Link[] = [];
  readonly events: TimedEvent[] = [];
  readonly resource: ReadableSpan["resource"];
  readonly instrumentationScope: ReadableSpan["instrumentationScope"];
  status: SpanStatus = UNSET;
  ended = false;
  droppedAttributesCount = 0;
  droppedEventsCount = 0;
  droppedLinksCount = 0;
  readonly #context: SpanContext;
  readonly #outlet: EndedSpans;
  /** Upper bound of the number of attributes. */
  #sets: number;

  constructor(
    origin: SpanOrigin,
    context: SpanContext,
    parent: SpanContext | undefined,
    name: string,
    kind: SpanKind,
    startTime: HrTime,
    attributes: Attributes,
  ) {
    this.#context = context;
    this.#outlet = origin.outlet;
    this.resource = origin.resource;
    this.instrumentationScope = origin.scope;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.name = name;
    this.kind = kind;
    this.startTime = startTime;
    this.endTime = startTime;
    let sets = 0;
    let gaps = false;
    for (const key in attributes) {
      if (!Object.hasOwn(attributes, key)) continue;
      sets += 1;
      if (attributes[key] === undefined) gaps = true;
    }
    this.attributes = gaps ? withoutGaps(attributes) : attributes;
    this.#sets = sets;
  }

  get duration(): HrTime {
    const [from, to] = [this.startTime, this.endTime];
    const [seconds, nanos] = [to[0] - from[0], to[1] - from[1]];
    return nanos < 0 ? [seconds - 1, nanos + 1e9] : [seconds, nanos];
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (value === undefined || value === null || this.ended) return this;
    if (this.#sets >= MOST && this.#isOneTooMany(key)) {
      this.droppedAttributesCount += 1;
      return this;
    }
    this.#sets += 1;
    this.attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const key in attributes) {
      const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
      if (value !== undefined) this.setAttribute(key, value);
    }
    return this;
  }

  addEvent(name: string, attributes?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this;
    if (this.events.length >= MOST) {
      this.events.shift();
      this.droppedEventsCount += 1;
    }
    const given = isAttributes(attributes) ? attributes : undefined;
    const at = given === attributes ? time : attributes;
    const kept = withinLimit(given ?? {});
    this.events.push({
      name,
      time: isHrTime(at) ? at : this.startTime,
      attributes: kept.attributes,
      droppedAttributesCount: kept.dropped,
    });
    return this;
  }

  addLink(link: Link): this {
    if (this.ended) return this;
    if (this.links.length >= MOST) {
      this.links.shift();
      this.droppedLinksCount += 1;
    }
    this.links.push(link);
    return this;
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (!this.ended && status.code !== SpanStatusCode.UNSET) this.status = status;
    return this;
  }

  updateName(name: string): this {
    if (!this.ended) this.name = name;
    return this;
  }

  end(endTime?: TimeInput): void {
    if (this.ended) return;
    if (isHrTime(endTime) && !isBefore(endTime, this.startTime)) this.endTime = endTime;
    this.ended = true;
    this.#outlet.onEnd(this);
  }

  /** Not used by the driver. */
  recordException(): void {}

  #isOneTooMany(key: string): boolean {
    if (Object.hasOwn(this.attributes, key)) return false;
    this.#sets = Object.keys(this.attributes).length;
    return this.#sets >= MOST;
  }
}

function isHrTime(time: unknown): time is HrTime {
  return Array.isArray(time);
}

function isBefore(one: HrTime, other: HrTime): boolean {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);
}

function isAttributes(value: Attributes | TimeInput | undefined): value is Attributes {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}

/** Removes undefined values. In a copy, since `delete` makes an object permanently slow. */
function withoutGaps(attributes: Attributes): Attributes {
  const without: Attributes = {};
  for (const key in attributes) {
    const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
    if (value !== undefined) without[key] = value;
  }
  return without;
}

function withinLimit(all: Attributes): {
  readonly attributes: Attributes;
  readonly dropped: number;
} {
  const names = Object.keys(all);
  if (names.length <= MOST) return { attributes: all, dropped: 0 };
  const attributes = Object.fromEntries(Object.entries(all).slice(0, MOST));
  return { attributes, dropped: names.length - MOST };
}
