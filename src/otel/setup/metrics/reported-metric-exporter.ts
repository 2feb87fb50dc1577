import {
  type AggregationOption,
  AggregationTemporality,
  AggregationType,
  type InstrumentType,
  type PushMetricExporter,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { withoutHeaderName } from "../../export/attempt.ts";
import type { Reporter } from "../../report.ts";

/** Reports errors of metrics, until a shutdown gives up on them: the shutdown reports that. */
export class MetricReporter {
  readonly #reporter: Reporter;
  #over = false;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  report(error: unknown, where: string): void {
    if (!this.#over) this.#reporter.report(error, where);
  }

  /** What comes from here on is no more news. */
  end(): void {
    this.#over = true;
  }
}

type ExportDone = Parameters<PushMetricExporter["export"]>[1];
type ExportResult = Parameters<ExportDone>[0];

/** The SDK's `ExportResultCode`, which is in a package that this one does not depend on. */
const SUCCESS: ExportResult["code"] = 0;
const FAILED: ExportResult["code"] = 1;

/**
 * Reports when metrics do not arrive, the first time after they did. As long as the
 * process goes on nothing is lost by it: sums are sent whole each time.
 */
export class ReportedMetricExporter implements PushMetricExporter {
  readonly #exporter: PushMetricExporter;
  readonly #reporter: MetricReporter;
  /** Why the last metrics did not arrive; `undefined` when they did. */
  #trouble: Error | undefined;

  constructor(exporter: PushMetricExporter, reporter: MetricReporter) {
    this.#exporter = exporter;
    this.#reporter = reporter;
  }

  export(metrics: ResourceMetrics, done: ExportDone): void {
    const settle: ExportDone = ({ code, error }) => {
      const result = { code, ...(error && { error: withoutHeaderName(error) }) };
      this.#note(result);
      done(result);
    };
    try {
      this.#exporter.export(metrics, settle);
    } catch (error) {
      settle({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Rejects when the metrics sent last did not arrive. */
  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush();
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    const chosen = this.#exporter.selectAggregationTemporality?.(type);
    return chosen ?? AggregationTemporality.CUMULATIVE;
  }

  selectAggregation(type: InstrumentType): AggregationOption {
    return this.#exporter.selectAggregation?.(type) ?? { type: AggregationType.DEFAULT };
  }

  #note(result: ExportResult): void {
    const worked = this.#trouble === undefined;
    this.#trouble =
      result.code === SUCCESS ? undefined : (result.error ?? new Error("the export failed"));
    if (worked && this.#trouble !== undefined) {
      this.#reporter.report(this.#trouble, "metric export");
    }
  }
}
