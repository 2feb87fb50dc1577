import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import type { AgentEvent, EventEnvelope } from "../../../src/index.ts";
import { second } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

/** One series of a metric as it is exported. */
export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The number, or the count of a histogram. */
  readonly value: number;
  readonly histogram: Histogram | undefined;
}

/** What one collection has given. */
export class Collected {
  readonly metrics: readonly MetricData[];

  constructor(metrics: readonly MetricData[]) {
    this.metrics = metrics;
  }

  get names(): string[] {
    return this.metrics.map(({ descriptor }) => descriptor.name);
  }

  points(name: string): Point[] {
    const metric = this.metrics.find(({ descriptor }) => descriptor.name === name);
    if (metric === undefined) return [];
    switch (metric.dataPointType) {
      case DataPointType.HISTOGRAM:
        return metric.dataPoints.map(({ attributes, value }) => ({
          attributes,
          value: value.count,
          histogram: value,
        }));
      case DataPointType.SUM:
      case DataPointType.GAUGE:
        return metric.dataPoints.map(({ attributes, value }) => ({
          attributes,
          value,
          histogram: undefined,
        }));
      default:
        throw new Error(`${name}: ${metric.dataPointType}`);
    }
  }

  /** Series that are not 0, as `attribute=value,…` with their values; attributes in order of name. */
  nonZero(name: string): Record<string, number> {
    const found = this.points(name).filter(({ value }) => value !== 0);
    return Object.fromEntries(found.map(({ attributes, value }) => [label(attributes), value]));
  }

  /** The series with exactly these attributes. */
  point(name: string, attributes: Readonly<Record<string, unknown>> = {}): Point | undefined {
    return this.points(name).find((point) => label(point.attributes) === label(attributes));
  }

  /** The values of all series that have these attributes, and maybe more, added up. */
  sum(name: string, attributes: Readonly<Record<string, unknown>> = {}): number {
    return this.points(name)
      .filter((point) => Object.entries(attributes).every(([k, v]) => point.attributes[k] === v))
      .reduce((sum, { value }) => sum + value, 0);
  }
}

/** Attributes as one text, by name. */
export function label(attributes: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, value]) => `${name}=${String(value)}`).join(",");
}

/** A meter provider whose metrics can be asked for at any time. */
export function collectMetrics() {
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 2 ** 30,
  });
  const provider = new MeterProvider({ readers: [reader] });
  return {
    provider,
    async collect(): Promise<Collected> {
      const { errors, resourceMetrics } = await reader.collect();
      if (errors.length > 0) throw new AggregateError(errors, "collection failed");
      return new Collected(resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics));
    },
  };
}

/** A live sink with metrics, whose events bring their time. */
export function meteredBench(
  options: TelemetryOptions = {},
  traces: Parameters<typeof collectSpans>[0] = {},
) {
  const meter = collectMetrics();
  const spans = collectSpans(traces);
  const reports: string[] = [];
  const sink = new Bridge({
    tracerProvider: spans.provider,
    meterProvider: meter.provider,
    captureContent: false,
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    ...options,
  });
  let next = 0;
  return {
    ...meter,
    spans: spans.spans,
    sink,
    reports,
    /** Sends the event with its time in seconds after second 0. */
    at(time: number, event: AgentEvent, envelope: EventEnvelope = {}): void {
      void sink.send(event, { timestamp: second(time), ...envelope });
    },
    /** The same, with an event id of its own. */
    identified(time: number, event: AgentEvent, envelope: EventEnvelope = {}): void {
      next++;
      void sink.send(event, { timestamp: second(time), event_id: `event-${next}`, ...envelope });
    },
  };
}
