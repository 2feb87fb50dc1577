import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace-node";
import type { Instant } from "../../events/door.ts";
import { encodeTraceRequest } from "../export/request-format.ts";

/** Where finished spans go. */
export interface SpanTarget {
  /** Takes spans; the promise is the back-pressure. Rejects when nothing more can be taken. */
  write(spans: readonly ReadableSpan[]): Promise<void>;
  /** Resolves when everything taken has arrived. */
  close(): Promise<void>;
}

/** So many spans go in one request. */
const BATCH = 512;

/**
 * Takes the spans that end and passes them on without losing any: the maker of spans asks
 * {@link SpanOutlet.full} and waits for {@link SpanOutlet.drain} before making more. The stock batch
 * processor has no back-pressure; it drops.
 */
export class SpanOutlet implements SpanProcessor {
  readonly #targets: readonly SpanTarget[];
  readonly #observe: (span: FinishedSpan) => void;
  readonly #started: ((read: () => StartedSpan) => void) | undefined;
  #pending: ReadableSpan[] = [];

  /**
   * @param observe sees each span when it ends.
   * @param started called when a span starts, with a function that reads the span at any time until its end. Only a
   *   replay calls it.
   */
  constructor(
    targets: readonly SpanTarget[],
    observe: (span: FinishedSpan) => void,
    started?: (read: () => StartedSpan) => void,
  ) {
    this.#targets = targets;
    this.#observe = observe;
    this.#started = started;
  }

  /** Whether there is a batch to pass on before more spans are made. */
  get full(): boolean {
    return this.#pending.length >= BATCH;
  }

  onStart(span: ReadableSpan): void {
    this.#started?.(() => startedSpan(span));
  }

  onEnd(span: ReadableSpan): void {
    if (this.#targets.length > 0) this.#pending.push(span);
    this.#observe(finishedSpan(span));
  }

  /**
   * Passes on what has ended. Not to be called again before it is done.
   *
   * @throws what a target rejects with.
   */
  async drain(): Promise<void> {
    const spans = this.#pending;
    this.#pending = [];
    for (let at = 0; at < spans.length; at += BATCH) {
      const batch = spans.slice(at, at + BATCH);
      for (const target of this.#targets) await target.write(batch);
    }
  }

  /** Passes on the rest and closes the targets. */
  async close(): Promise<void> {
    await this.drain();
    for (const target of this.#targets) await target.close();
  }

  /** Nothing: the provider would wait no longer than half a minute. {@link SpanOutlet.drain} does. */
  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}

/** Writes spans as OTLP/JSON lines, one `ExportTraceServiceRequest` a line. */
export class SpanLines implements SpanTarget {
  /** Why nothing more can be written. */
  failure: Error | undefined;
  readonly #stream: Writable;
  readonly #end: boolean;

  /** @param end whether the stream is ended with the spans; the standard output is not. */
  constructor(stream: Writable, end: boolean) {
    this.#stream = stream;
    this.#end = end;
    stream.on("error", (error) => {
      this.failure = error;
    });
  }

  async write(spans: readonly ReadableSpan[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.#stream.write(`${encodeTraceRequest(spans)}\n`)) return;
    await once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (!this.#end) return;
    this.#stream.end();
    await finished(this.#stream);
  }
}

/** A span as commands show it: free of OpenTelemetry's own types. */
export interface StartedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly start: Readonly<Instant>;
  /** Whether the status is ERROR. */
  readonly failed: boolean;
  /** Description of the status. */
  readonly message: string | undefined;
  readonly attributes: SpanAttributes;
  readonly events: readonly {
    readonly name: string;
    readonly time: Readonly<Instant>;
    readonly attributes: SpanAttributes;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: SpanAttributes;
  }[];
}

/** A span that has ended. */
export interface FinishedSpan extends StartedSpan {
  readonly end: Readonly<Instant>;
}

/** Those of a span, and of its events and links. */
export type SpanAttributes = Readonly<Record<string, SpanValue | undefined>>;

/** What OpenTelemetry allows as a value; another's spans may mix the types of a list. */
export type SpanValue = PlainValue | readonly (PlainValue | null | undefined)[];

type PlainValue = string | number | boolean;

const NONE: SpanAttributes = {};

function startedSpan(span: ReadableSpan): StartedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    name: span.name,
    start: span.startTime,
    failed: span.status.code === SpanStatusCode.ERROR,
    message: span.status.message,
    attributes: span.attributes,
    events: span.events.map(({ attributes = NONE, name, time }) => ({ name, time, attributes })),
    links: span.links.map(({ attributes = NONE, context }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      attributes,
    })),
  };
}

function finishedSpan(span: ReadableSpan): FinishedSpan {
  return { ...startedSpan(span), end: span.endTime };
}

/** The text of one of the span's attributes; empty where it is absent. */
export function attributeText(span: FinishedSpan, name: string): string {
  const value = span.attributes[name];
  return value === undefined || value === null ? "" : String(value);
}
