import {
  type Link,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TraceState,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan, TimedEvent } from "@opentelemetry/sdk-trace-node";
import { RandomValues } from "./random-values.ts";

const KINDS = [
  SpanKind.INTERNAL,
  SpanKind.SERVER,
  SpanKind.CLIENT,
  SpanKind.PRODUCER,
  SpanKind.CONSUMER,
];
const CODES = [SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR];
const SECONDS = [0, 1, 65_535, 65_536, 1_780_000_000, 2 ** 31, 2 ** 33];
const NANOS = [0, 1, 999_999_999];
const DROPPED = [0, 0, 1, 127, 128, 70_000, 2 ** 32 - 1];

/** Spans of up to three resources and scopes each, interleaved; the same seed draws the same ones. */
export function randomSpans(seed: number, count: number): ReadableSpan[] {
  const draw = new SpanDraw(seed);
  return Array.from({ length: count }, () => draw.span());
}

class SpanDraw {
  readonly #values: RandomValues;
  readonly #resources: readonly ReadableSpan["resource"][];
  readonly #scopes: readonly ReadableSpan["instrumentationScope"][];

  constructor(seed: number) {
    const values = new RandomValues(seed);
    this.#values = values;
    this.#resources = this.#few(() => {
      const options = values.chance(0.5) ? { schemaUrl: values.text() } : {};
      return resourceFromAttributes(values.attributes(5), options);
    });
    this.#scopes = this.#few(() => ({
      name: values.text(),
      ...(values.chance(0.5) ? { version: values.text() } : {}),
      ...(values.chance(0.3) ? { schemaUrl: values.text() } : {}),
      ...(values.chance(0.3)
        ? { attributes: values.attributes(3), droppedAttributesCount: 2 }
        : {}),
    }));
  }

  span(): ReadableSpan {
    const values = this.#values;
    const context = this.#context();
    return {
      name: values.text(),
      kind: values.of(KINDS),
      spanContext: () => context,
      ...(values.chance(0.6) ? { parentSpanContext: this.#context() } : {}),
      startTime: this.#time(),
      endTime: this.#time(),
      status: this.#status(),
      attributes: values.attributes(8),
      links: values.chance(0.2) ? this.#few(() => this.#link()) : [],
      events: values.chance(0.2) ? this.#few(() => this.#event()) : [],
      duration: [0, 0],
      ended: true,
      resource: values.of(this.#resources),
      instrumentationScope: values.of(this.#scopes),
      droppedAttributesCount: values.of(DROPPED),
      droppedEventsCount: values.of(DROPPED),
      droppedLinksCount: values.of(DROPPED),
    };
  }

  #few<T>(make: () => T): T[] {
    return Array.from({ length: 1 + this.#values.below(3) }, make);
  }

  #time(): [number, number] {
    const values = this.#values;
    const nanos = values.chance(0.5) ? values.of(NANOS) : values.below(1e9);
    return [values.chance(0.5) ? values.of(SECONDS) : values.below(2 ** 32), nanos];
  }

  #context(): SpanContext {
    const values = this.#values;
    return {
      traceId: values.hex(32),
      spanId: values.hex(16),
      traceFlags: values.chance(0.8) ? 1 : values.below(1024),
      ...(values.chance(0.3) ? { isRemote: values.chance(0.5) } : {}),
      ...(values.chance(0.1) ? { traceState: stateOf(values.text()) } : {}),
    };
  }

  #status(): SpanStatus {
    const values = this.#values;
    const code = values.of(CODES);
    return values.chance(0.3) ? { code, message: values.text() } : { code };
  }

  #link(): Link {
    const values = this.#values;
    return {
      context: this.#context(),
      ...(values.chance(0.7) ? { attributes: values.attributes(3) } : {}),
      ...(values.chance(0.5) ? { droppedAttributesCount: values.of(DROPPED) } : {}),
    };
  }

  #event(): TimedEvent {
    const values = this.#values;
    return {
      name: values.text(),
      time: this.#time(),
      ...(values.chance(0.7) ? { attributes: values.attributes(3) } : {}),
      ...(values.chance(0.5) ? { droppedAttributesCount: values.of(DROPPED) } : {}),
    };
  }
}

function stateOf(text: string): TraceState {
  const state: TraceState = {
    serialize: () => text,
    get: () => undefined,
    set: () => state,
    unset: () => state,
  };
  return state;
}
