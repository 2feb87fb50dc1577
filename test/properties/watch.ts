import {
  BasicTracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { createIdGenerator } from "../../src/index.ts";

/** A provider that watches each span from its start to its end. */
export function watchSpans(options: { sampler?: Sampler; foreignIds?: boolean } = {}) {
  const open = new Set<ReadableSpan>();
  const ended: ReadableSpan[] = [];
  const endedTwice: ReadableSpan[] = [];
  const processor: SpanProcessor = {
    onStart: (span) => void open.add(span),
    onEnd: (span) => {
      if (!open.delete(span)) endedTwice.push(span);
      ended.push(span);
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [processor],
    ...(options.sampler === undefined ? {} : { sampler: options.sampler }),
    ...(options.foreignIds === true ? {} : { idGenerator: createIdGenerator() }),
  });
  return { provider, open, ended, endedTwice };
}

/** The most open calls of a tool, or of the model, that any one run has, by its span. */
export function mostOpenCalls(
  open: ReadonlySet<ReadableSpan>,
  operation: "execute_tool" | "chat" | "step",
): number {
  const counts = new Map<string | undefined, number>();
  let most = 0;
  for (const span of open) {
    if (!span.name.startsWith(operation)) continue;
    const parent = `${span.spanContext().traceId}/${span.parentSpanContext?.spanId}`;
    const count = (counts.get(parent) ?? 0) + 1;
    counts.set(parent, count);
    most = Math.max(most, count);
  }
  return most;
}

export const isRunSpan = (span: ReadableSpan) => span.name.startsWith("invoke_agent");

/** The traces that hold spans of more than one tenant. */
export function sharedTraces(spans: readonly ReadableSpan[]): string[] {
  const owner = new Map<string, unknown>();
  const shared = new Set<string>();
  for (const span of spans) {
    const { traceId } = span.spanContext();
    const tenant = span.attributes["entelix.tenant_id"];
    if ((owner.get(traceId) ?? tenant) !== tenant) shared.add(traceId);
    owner.set(traceId, tenant);
  }
  return [...shared];
}
