import type { Adjustment, IgnoredReason } from "../../lifecycle/counters.ts";

/** A label that may be replaced by `_other`. */
export type OverflowLabel = "tenant" | "agent" | "tool" | "model";

/** The counts of labels where nothing was replaced. */
export const NOTHING_REPLACED: Readonly<Record<OverflowLabel, number>> = {
  tenant: 0,
  agent: 0,
  tool: 0,
  model: 0,
};

/** A bridge's own counts; the names are those of `diagnostics()`. */
export interface BridgeCounts {
  readonly events: number;
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  readonly adjustments: Readonly<Record<Adjustment, number>>;
  readonly openRuns: number;
  readonly auditFailures: number;
  readonly labelOverflow: Readonly<Record<OverflowLabel, number>>;
}

/** The counts of several bridges in one; those of bridges that are gone stay in it. */
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
