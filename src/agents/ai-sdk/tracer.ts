import { fieldsOf } from "../core/narrow.ts";
import { type AiSdkSpan, RecordedSpan } from "./recorded-span.ts";

/**
 * What the AI SDK 6 takes as `tracer` and as `integrations` of a call's `experimental_telemetry`: OpenTelemetry's
 * `Tracer`, as far as the SDK uses it, and the one callback that says what no span does.
 */
export interface AiSdkTracer {
  /** A span that does nothing: the SDK starts no span without running its code in it. */
  startSpan(name: string, options?: object, context?: object): AiSdkSpan;
  /** Of the SDK's interface for integrations: the content of a step. It needs no `this`. */
  readonly onStepFinish: (event: unknown) => void;
  /** Calls `fn` as part of the run that the span belongs to. @returns what it returns. */
  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(name: string, fn: F): ReturnType<F>;
  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(
    name: string,
    options: object,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(
    name: string,
    options: object,
    context: object,
    fn: F,
  ): ReturnType<F>;
}

/** Code that the SDK runs in a span. */
export type SpanWork = (span: RecordedSpan) => unknown;

/** Follows what the SDK does in spans. */
export interface SpanFollower {
  /** @returns what `work` returns. */
  follow(name: string, attributes: unknown, work: SpanWork): unknown;
  stepFinished(event: unknown): void;
}

/** Hands on what the SDK runs in spans. */
export class SpanTracer implements AiSdkTracer {
  readonly onStepFinish: (event: unknown) => void;
  readonly #spans: SpanFollower;

  constructor(spans: SpanFollower) {
    this.#spans = spans;
    this.onStepFinish = (event) => spans.stepFinished(event);
  }

  startSpan(_name: string, options?: object): AiSdkSpan {
    return new RecordedSpan(fieldsOf(options)?.attributes);
  }

  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(name: string, fn: F): ReturnType<F>;
  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(
    name: string,
    options: object,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan<F extends (span: AiSdkSpan) => unknown>(
    name: string,
    options: object,
    context: object,
    fn: F,
  ): ReturnType<F>;
  startActiveSpan(name: string, ...rest: readonly unknown[]): unknown {
    const work = rest.at(-1);
    // As the tracer of OpenTelemetry's API does.
    if (typeof work !== "function") return undefined;
    const call: SpanWork = (span) => Reflect.apply(work, undefined, [span]);
    return this.#spans.follow(String(name), fieldsOf(rest[0])?.attributes, call);
  }
}
