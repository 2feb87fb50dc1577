import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { Labels, SeriesBook } from "./series-book.ts";

/** The dimensions of `span_metrics` in collector-config.yaml, with the values of spans that lack them. */
const DIMENSIONS = {
  "gen_ai.operation.name": "unknown",
  "gen_ai.agent.name": "unknown",
  "entelix.tenant_id": "unknown",
  "entelix.run.outcome": "none",
  "entelix.failure.kind": "none",
  "entelix.failure.tool_name": "none",
  "entelix.tool.error_kind": "none",
} as const;

interface Calls {
  readonly labels: Labels;
  count: number;
  /** Whether the key was looked up. */
  isKnown: boolean;
  key: string | undefined;
}

/** What the collector counts of spans, and what it shows of itself. */
export class SimulatedCollector {
  /** Until then it does not answer, in simulated seconds. */
  #awayUntil = 0;
  #starts = 1;
  #spans = 0;
  /** At the scrape before. */
  #spansBefore = 0;
  readonly #calls = new Map<string, Calls>();

  /** A span came by the live receiver. */
  spanEnded(job: string, { attributes, kind, status }: ReadableSpan): void {
    this.#spans++;
    if (attributes["entelix.run.open"] === true) return;
    const operation = String(attributes["gen_ai.operation.name"] ?? "_other");
    const dimensions = Object.entries(DIMENSIONS).map(([name, otherwise]) => [
      name.replaceAll(".", "_"),
      String(attributes[name] ?? otherwise),
    ]);
    const labels: Labels = {
      job,
      service_name: job,
      span_name: operation,
      span_kind: `SPAN_KIND_${SpanKind[kind]}`,
      status_code: `STATUS_CODE_${SpanStatusCode[status.code]}`,
      ...Object.fromEntries(dimensions),
      ...errorKind(attributes["entelix.failure.tool_error_kind"]),
      entelix_root: operation === "invoke_agent" ? String(isRoot(attributes)) : "none",
    };
    const key = JSON.stringify(labels);
    const known = this.#calls.get(key);
    if (known === undefined)
      this.#calls.set(key, { labels, count: 1, isKnown: false, key: undefined });
    else known.count++;
  }

  /** A new process: its counts begin anew. */
  restart(now: number, seconds: number): void {
    this.#awayUntil = now + seconds;
    this.#starts++;
    this.#spans = 0;
    this.#calls.clear();
  }

  answers(now: number): boolean {
    return now >= this.#awayUntil;
  }

  /** Its part of what Prometheus reads. */
  show(book: SeriesBook, now: number): void {
    const up = this.answers(now);
    book.put("up", { job: "entelix", instance: "collector:8889" }, up ? 1 : 0);
    book.put("up", { job: "otelcol-self", instance: "collector:8888" }, up ? 1 : 0);
    if (!up) return;
    const self = { job: "otelcol-self", instance: "collector:8888" };
    const jaeger = { ...self, exporter: "otlp_grpc/jaeger" };
    book.put("otelcol_exporter_sent_spans_total", jaeger, this.#spans);
    book.put("otelcol_exporter_send_failed_spans_total", jaeger, 0);
    book.put("otelcol_exporter_enqueue_failed_spans_total", jaeger, 0);
    book.put("otelcol_exporter_queue_capacity", jaeger, 1_073_741_824);
    // What is in it at the moment of the scrape: a request that came since the last one, or nothing.
    const busy = this.#spans % 3 === 0 && this.#spans !== this.#spansBefore;
    this.#spansBefore = this.#spans;
    book.put("otelcol_exporter_queue_size", jaeger, busy ? 24_000 : 0);
    for (const receiver of ["otlp", "otlp/replay"]) {
      book.put("otelcol_receiver_refused_spans_total", { ...self, receiver }, 0);
    }
    book.put("otelcol_receiver_refused_metric_points_total", { ...self, receiver: "otlp" }, 0);
    for (const call of this.#calls.values()) {
      if (!call.isKnown) {
        const labels = { ...call.labels, collector_instance_id: `c${this.#starts}` };
        call.key = book.key("entelix_spans_calls_total", labels);
        call.isKnown = true;
      }
      if (call.key !== undefined) book.record(call.key, call.count);
    }
  }
}

/** As `transform/metric_labels` has it. */
function isRoot(attributes: ReadableSpan["attributes"]): boolean {
  return (
    attributes["entelix.parent_run_id"] === undefined ||
    attributes["entelix.parent.missing"] === true
  );
}

function errorKind(ofRun: unknown): Labels {
  return ofRun === undefined ? {} : { entelix_tool_error_kind: String(ofRun) };
}
