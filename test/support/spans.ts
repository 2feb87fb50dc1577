import { SpanStatusCode } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { formatRfc3339 } from "../../src/events/door.ts";
import { createIdGenerator } from "../../src/index.ts";

/** The order in which spans started: several start in one millisecond, the resolution of their times. */
const startOrder = new WeakMap<object, number>();
let starts = 0;

/** A provider that keeps what it exports, and counts how often each span ended. */
export function collectSpans(options: { sampler?: Sampler; foreignIds?: boolean } = {}) {
  const exporter = new InMemorySpanExporter();
  const started = new Map<string, number>();
  const ended = new Map<string, number>();
  const count: SpanProcessor = {
    onStart: (span) => {
      starts += 1;
      startOrder.set(span, starts);
      bump(started, key(span.spanContext()));
    },
    onEnd: (span) => bump(ended, key(span.spanContext())),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new NodeTracerProvider({
    spanProcessors: [count, new SimpleSpanProcessor(exporter)],
    ...(options.sampler === undefined ? {} : { sampler: options.sampler }),
    ...(options.foreignIds ? {} : { idGenerator: createIdGenerator() }),
  });
  return { provider, started, ended, spans: (): ReadableSpan[] => exporter.getFinishedSpans() };
}

const key = (context: { traceId: string; spanId: string }) =>
  `${context.traceId}/${context.spanId}`;

function bump(counts: Map<string, number>, at: string): void {
  counts.set(at, (counts.get(at) ?? 0) + 1);
}

export interface SpanNode {
  span: string;
  run: unknown;
  trace: string;
  span_id: string;
  parent: string | undefined;
  status: "unset" | "error" | "ok";
  description: string | undefined;
  start: string;
  end: string;
  attributes: Record<string, unknown>;
  links: string[];
  linkKinds: unknown[];
  events: string[];
  children: SpanNode[];
}

/** The spans as trees, roots and children in the order of their start. */
export function toTrees(spans: readonly ReadableSpan[]): SpanNode[] {
  const orderOf = (span: ReadableSpan) => startOrder.get(span) ?? 0;
  const nodes = spans.toSorted((a, b) => orderOf(a) - orderOf(b)).map(toNode);
  const byId = new Map(nodes.map((node) => [`${node.trace}/${node.span_id}`, node]));
  const roots: SpanNode[] = [];
  for (const node of nodes) {
    const parent = byId.get(`${node.trace}/${node.parent}`);
    (parent?.children ?? roots).push(node);
  }
  const sort = (list: SpanNode[]) => {
    list.sort((a, b) => compareTimes(a.start, b.start));
    for (const node of list) sort(node.children);
  };
  sort(roots);
  return roots;
}

/**
 * Some times are whole milliseconds, such as those of frameworks, and others finer, such as those of the application's
 * own spans. Between them, within one millisecond, only the order of their starts is known.
 */
function compareTimes(a: string, b: string): number {
  const milliseconds = Date.parse(a) - Date.parse(b);
  if (milliseconds !== 0 || !isFine(a) || !isFine(b)) return milliseconds;
  // Without the `Z`, since "01.5Z" would come before "01Z".
  const [first, second] = [a.slice(0, -1), b.slice(0, -1)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function isFine(time: string): boolean {
  return /\.\d{4,}Z$/.test(time);
}

function toNode(span: ReadableSpan): SpanNode {
  const status =
    span.status.code === SpanStatusCode.ERROR
      ? "error"
      : span.status.code === SpanStatusCode.OK
        ? "ok"
        : "unset";
  return {
    span: span.name,
    run: span.attributes["entelix.run_id"],
    trace: span.spanContext().traceId,
    span_id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    status,
    description: span.status.message,
    start: formatRfc3339([span.startTime[0], span.startTime[1]]),
    end: formatRfc3339([span.endTime[0], span.endTime[1]]),
    attributes: { ...span.attributes },
    links: span.links.map((link) => link.context.spanId),
    linkKinds: span.links.map((link) => link.attributes?.["entelix.link.kind"]),
    events: span.events.map((event) => event.name),
    children: [],
  };
}

/** Everything of a span that must be the same when it is made again, as one comparable text. */
export function fingerprint(span: ReadableSpan): string {
  return JSON.stringify([
    span.spanContext().traceId,
    span.spanContext().spanId,
    span.parentSpanContext?.spanId,
    span.name,
    span.kind,
    span.startTime,
    span.endTime,
    span.status,
    Object.entries(span.attributes),
    span.events.map((event) => [event.name, event.time, event.attributes]),
    span.links.map((link) => [link.context.traceId, link.context.spanId, link.attributes]),
  ]);
}
