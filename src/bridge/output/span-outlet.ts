import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { type SpanContext, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Instant } from "../../events/door.ts";
import { encodeTraceRequest, formatOf } from "../export/request-format.ts";
import { SpanBatches, type SpanEncoding, type SpanTarget } from "./span-batches.ts";

/** Called at the start of a span. `read` reads the span until its end. */
export type SpanStarted = (
  read: () => StartedSpan,
  ids: Pick<SpanContext, "traceId" | "spanId">,
) => void;

/**
 * Passes all ended spans on. The code that makes spans checks {@link SpanOutlet.full}, and waits for
 * {@link SpanOutlet.drain} before it makes more. The stock batch processor drops spans instead, since it has
 * no back-pressure.
 */
export class SpanOutlet implements SpanProcessor {
  readonly #targets: readonly SpanTarget[];
  readonly #observe: (span: FinishedSpan) => void;
  readonly #started: SpanStarted | undefined;
  readonly #batches: SpanBatches<ReadableSpan>;

  /**
   * @param observe called with each span at its end.
   * @param started called at the start of a span. Only in a replay.
   */
  constructor(
    targets: readonly SpanTarget[],
    observe: (span: FinishedSpan) => void,
    started?: SpanStarted,
  ) {
    this.#targets = targets;
    this.#observe = observe;
    this.#started = started;
    const { encode } = formatOf("http/protobuf");
    this.#batches = new SpanBatches(targets, { json: encodeTraceRequest, protobuf: encode });
  }

  /** Whether a batch must be drained before more spans are made. */
  get full(): boolean {
    return this.#batches.full;
  }

  onStart(span: ReadableSpan): void {
    this.#started?.(() => new OpenSpan(span), span.spanContext());
  }

  onEnd(span: ReadableSpan): void {
    this.#batches.add(span);
    this.#observe(new EndedSpan(span));
  }

  /**
   * Passes ended spans on. Do not call it again before it is done.
   *
   * @throws (rejects) with the error of a target.
   */
  drain(): Promise<void> {
    return this.#batches.drain();
  }

  /** Passes the other spans on, and closes the targets. */
  async close(): Promise<void> {
    await this.drain();
    for (const target of this.#targets) await target.close();
  }

  /** Does nothing, since the provider waits only half a minute. Use {@link SpanOutlet.drain}. */
  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}

/** Writes spans as OTLP/JSON lines, one `ExportTraceServiceRequest` per line. */
export class SpanLines implements SpanTarget {
  /** The error of the stream. */
  failure: Error | undefined;
  readonly #stream: Writable;
  readonly #end: boolean;

  /** @param end whether to end the stream with the spans. Not for the standard output. */
  constructor(stream: Writable, end: boolean) {
    this.#stream = stream;
    this.#end = end;
    stream.on("error", (error) => {
      this.failure = error;
    });
  }

  async write<S>(spans: readonly S[], encoding: SpanEncoding<S>): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.#stream.write(`${encoding.json(spans)}\n`)) return;
    await once(this.#stream, "drain");
  }

  async close(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (!this.#end) return;
    this.#stream.end();
    await finished(this.#stream);
  }
}

/** A span for commands, without OpenTelemetry's types. */
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

/** Attributes of a span, an event or a link. */
export type SpanAttributes = Readonly<Record<string, SpanValue | undefined>>;

/** An attribute value of OpenTelemetry. Lists of foreign spans can have mixed types. */
export type SpanValue = PlainValue | readonly (PlainValue | null | undefined)[];

type PlainValue = string | number | boolean;

const NONE: SpanAttributes = {};

/** Reads a span as it is now, without a copy: most readers need a few of its fields. */
class OpenSpan implements StartedSpan {
  readonly #span: ReadableSpan;
  readonly traceId: string;
  readonly spanId: string;

  constructor(span: ReadableSpan) {
    const { spanId, traceId } = span.spanContext();
    this.#span = span;
    this.traceId = traceId;
    this.spanId = spanId;
  }

  get parentSpanId(): string | undefined {
    return this.#span.parentSpanContext?.spanId;
  }

  get name(): string {
    return this.#span.name;
  }

  get start(): Readonly<Instant> {
    return this.#span.startTime;
  }

  get failed(): boolean {
    return this.#span.status.code === SpanStatusCode.ERROR;
  }

  get message(): string | undefined {
    return this.#span.status.message;
  }

  get attributes(): SpanAttributes {
    return this.#span.attributes;
  }

  get events(): FinishedSpan["events"] {
    const { events } = this.#span;
    if (events.length === 0) return NO_EVENTS;
    return events.map(({ attributes = NONE, name, time }) => ({ name, time, attributes }));
  }

  get links(): FinishedSpan["links"] {
    const { links } = this.#span;
    if (links.length === 0) return NO_LINKS;
    return links.map(({ attributes = NONE, context }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      attributes,
    }));
  }
}

class EndedSpan extends OpenSpan implements FinishedSpan {
  readonly end: Readonly<Instant>;

  constructor(span: ReadableSpan) {
    super(span);
    this.end = span.endTime;
  }
}

const NO_EVENTS: FinishedSpan["events"] = [];
const NO_LINKS: FinishedSpan["links"] = [];

/** An attribute as text; empty if it is absent. */
export function attributeText(span: FinishedSpan, name: string): string {
  const value = span.attributes[name];
  return value === undefined || value === null ? "" : String(value);
}
