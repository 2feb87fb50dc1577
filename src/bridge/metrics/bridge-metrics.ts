import type { MeterProvider } from "@opentelemetry/api";
import type { FailureKindId } from "../../events/door.ts";
import type { Adjustment, IgnoredReason, RunObserver } from "../lifecycle/door.ts";
import type { Reporter } from "../report.ts";
import { EventMetrics } from "./event-metrics.ts";
import { instrumentsOf, type JoinedBridge } from "./instruments.ts";
import { type LabelCaps, type MetricOptions, resolveCaps } from "./label-values.ts";

interface BridgeMetricsOptions {
  /** Default: the global one. */
  readonly provider: MeterProvider | undefined;
  readonly labels: MetricOptions | undefined;
  readonly benign: ReadonlySet<FailureKindId>;
  readonly reporter: Reporter;
  /** The bridge's counts and open runs, read at each collection. */
  readonly bridge: JoinedBridge;
}

/** The metrics of one bridge. Off until a meter provider measures. */
export class BridgeMetrics {
  readonly #options: BridgeMetricsOptions;
  readonly #caps: LabelCaps;
  #metrics: EventMetrics | undefined;
  #leave: (() => void) | undefined;
  #lateEvent: (() => void) | undefined;
  #failures = 0;

  /** @throws RangeError, TypeError if the cap of a label is invalid; the message names it. */
  constructor(options: BridgeMetricsOptions) {
    this.#options = options;
    this.#caps = resolveCaps(options.labels);
  }

  /**
   * The observer of runs and calls; `undefined` while no provider measures. It looks for a provider on each
   * call.
   */
  find(): RunObserver | undefined {
    if (this.#metrics !== undefined) return this.#metrics;
    const { benign, bridge, provider, reporter } = this.#options;
    try {
      const instruments = instrumentsOf(provider);
      if (instruments === undefined) return undefined;
      this.#metrics = new EventMetrics({ instruments, caps: this.#caps, benign, reporter });
      const leave = instruments.join(bridge);
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

  /** Counts that the tenant named a run or trace of another tenant. */
  tenantConflict(tenantId: string): void {
    this.#metrics?.tenantConflict(tenantId);
  }

  /** Removes the bridge from the instruments at its end. Its counts stay. */
  leave(): void {
    this.#leave?.();
  }

  /** Counts an event, if the bridge has ended. */
  lateEvent(): void {
    this.#lateEvent?.();
  }

  /** Number of failed measurements. */
  get failures(): number {
    return this.#failures + (this.#metrics?.failures ?? 0);
  }

  get labelOverflow(): Readonly<Record<OverflowLabel, number>> {
    return this.#metrics?.labelOverflow ?? NOTHING_REPLACED;
  }
}

/** A label whose value can become `_other`. */
export type OverflowLabel = "tenant" | "agent" | "tool" | "model";

/** Counts of labels without any `_other`. */
export const NOTHING_REPLACED: Readonly<Record<OverflowLabel, number>> = {
  tenant: 0,
  agent: 0,
  tool: 0,
  model: 0,
};

/** A bridge's counts, with the names of `diagnostics()`. */
export interface BridgeCounts {
  readonly events: number;
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  readonly adjustments: Readonly<Record<Adjustment, number>>;
  readonly openRuns: number;
  readonly auditFailures: number;
  readonly labelOverflow: Readonly<Record<OverflowLabel, number>>;
}

/** The sum of the counts of several bridges, also of those that have ended. */
export class CountSum {
  events = 0;
  openRuns = 0;
  auditFailures = 0;
  readonly ignored = new Map<string, number>();
  readonly adjustments = new Map<string, number>();
  readonly labelOverflow = new Map<string, number>();

  add(counts: BridgeCounts): this {
    this.events += counts.events;
    this.openRuns += counts.openRuns;
    this.auditFailures += counts.auditFailures;
    addEach(this.ignored, Object.entries(counts.ignored));
    addEach(this.adjustments, Object.entries(counts.adjustments));
    addEach(this.labelOverflow, Object.entries(counts.labelOverflow));
    return this;
  }

  /** A copy to add to. */
  copy(): CountSum {
    const copy = new CountSum();
    copy.events = this.events;
    copy.openRuns = this.openRuns;
    copy.auditFailures = this.auditFailures;
    addEach(copy.ignored, this.ignored);
    addEach(copy.adjustments, this.adjustments);
    addEach(copy.labelOverflow, this.labelOverflow);
    return copy;
  }
}

function addEach(to: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [name, count] of counts) to.set(name, (to.get(name) ?? 0) + count);
}
