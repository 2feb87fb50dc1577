import { type AttributeValue, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { Instant } from "../../events/instant.ts";

/** A span that has ended, as far as the command shows it: free of OpenTelemetry's own types. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly start: Readonly<Instant>;
  readonly end: Readonly<Instant>;
  /** Whether the status is ERROR. */
  readonly failed: boolean;
  /** Description of the status. */
  readonly message: string | undefined;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  readonly links: readonly { readonly traceId: string; readonly kind: string }[];
}

export function finishedSpan(span: ReadableSpan): FinishedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    name: span.name,
    start: span.startTime,
    end: span.endTime,
    failed: span.status.code === SpanStatusCode.ERROR,
    message: span.status.message,
    attributes: span.attributes,
    links: span.links.map((link) => ({
      traceId: link.context.traceId,
      kind: String(link.attributes?.["entelix.link.kind"] ?? "link"),
    })),
  };
}

/** The text of one of the span's attributes; empty where it is absent. */
export function attributeText(span: FinishedSpan, name: string): string {
  const value = span.attributes[name];
  return value === undefined || value === null ? "" : String(value);
}
