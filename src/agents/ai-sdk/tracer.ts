import { fieldsOf } from "../core/door.ts";
import { type AiSdkSpan, RecordedSpan } from "./recorded-span.ts";

/**
 * The value for `tracer` and `integrations` of `experimental_telemetry` (AI SDK 6): the part of OpenTelemetry's
 * `Tracer` that the SDK uses, and one callback with data that no span has.
 */
export interface AiSdkTracer {
  /** Returns a span that does nothing. The SDK runs all its code in `startActiveSpan`. */
  startSpan(name: string, options?: object, context?: object): AiSdkSpan;
  /** A callback of the SDK's interface for integrations, with the content of a step. It works without `this`. */
  readonly onStepFinish: (event: unknown) => void;
  /** Callbacks with the call's `abortSignal`. They work without `this`. */
  readonly onStepStart: (event: unknown) => void;
  readonly onToolCallStart: (event: unknown) => void;
  /**
   * Calls `fn` as part of the run that the span belongs to.
   *
   * @returns what `fn` returns.
   */
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

export interface SpanFollower {
  /** @returns what `work` returns. */
  follow(name: string, attributes: unknown, work: SpanWork): unknown;
  stepFinished(event: unknown): void;
  signalled(event: unknown): void;
}

/** Passes the spans of the SDK to a {@link SpanFollower}. */
export class SpanTracer implements AiSdkTracer {
  readonly onStepFinish: (event: unknown) => void;
  readonly onStepStart: (event: unknown) => void;
  readonly onToolCallStart: (event: unknown) => void;
  readonly #spans: SpanFollower;

  constructor(spans: SpanFollower) {
    this.#spans = spans;
    this.onStepFinish = (event) => spans.stepFinished(event);
    this.onStepStart = (event) => spans.signalled(event);
    this.onToolCallStart = this.onStepStart;
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
    // Same as the tracer of OpenTelemetry's API.
    if (typeof work !== "function") return undefined;
    const call: SpanWork = (span) => Reflect.apply(work, undefined, [span]);
    return this.#spans.follow(String(name), fieldsOf(rest[0])?.attributes, call);
  }
}
