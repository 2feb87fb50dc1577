import type { MeterProvider } from "@opentelemetry/api";
import type { FailureKindId } from "../../errors/error-kinds.ts";
import type { RunObserver } from "../../lifecycle/run-observer.ts";
import type { Reporter } from "../report.ts";
import { type BridgeCounts, NOTHING_REPLACED, type OverflowLabel } from "./bridge-counts.ts";
import { EventMetrics } from "./event-metrics.ts";
import { type LabelCaps, type MetricOptions, resolveCaps } from "./label-values.ts";
import { instrumentsOf } from "./shared-instruments.ts";

export interface BridgeMetricsOptions {
  /** Default: the global one. */
  readonly provider: MeterProvider | undefined;
  readonly labels: MetricOptions | undefined;
  readonly benign: ReadonlySet<FailureKindId>;
  readonly reporter: Reporter;
  /** The bridge's own counts, asked for at each collection. */
  readonly counts: () => BridgeCounts;
}

/** The metrics side of one bridge: off until there is a meter provider that measures. */
export class BridgeMetrics {
  readonly #options: BridgeMetricsOptions;
  readonly #caps: LabelCaps;
  #metrics: EventMetrics | undefined;
  #leave: (() => void) | undefined;
  #lateEvent: (() => void) | undefined;
  #failures = 0;

  /** @throws RangeError, TypeError when a cap of a label can't be used; the message names it. */
  constructor(options: BridgeMetricsOptions) {
    this.#options = options;
    this.#caps = resolveCaps(options.labels);
  }

  /**
   * The observer of runs and calls; `undefined` as long as no provider measures.
   * Looks for a provider each time it finds none.
   */
  find(): RunObserver | undefined {
    if (this.#metrics !== undefined) return this.#metrics;
    const { benign, counts, provider, reporter } = this.#options;
    try {
      const instruments = instrumentsOf(provider);
      if (instruments === undefined) return undefined;
      this.#metrics = new EventMetrics({ instruments, caps: this.#caps, benign, reporter });
      const leave = instruments.join(counts);
      this.#leave = () => {
        leave();
        this.#lateEvent = () => instruments.lateEvent();
      };
    } catch (error) {
      this.#failures++;
      reporter.report(error, "metrics");
    }
    return this.#metrics;
  }

  /** The tenant named a run or trace of another tenant. */
  tenantConflict(tenantId: string): void {
    this.#metrics?.tenantConflict(tenantId);
  }

  /** The bridge ends: what it has counted stays, but the bridge itself can go. */
  leave(): void {
    this.#leave?.();
  }

  /** An event came: it counts here when that was after the end. */
  lateEvent(): void {
    this.#lateEvent?.();
  }

  /** Measurements that could not be taken. */
  get failures(): number {
    return this.#failures + (this.#metrics?.failures ?? 0);
  }

  get labelOverflow(): Readonly<Record<OverflowLabel, number>> {
    return this.#metrics?.labelOverflow ?? NOTHING_REPLACED;
  }
}
