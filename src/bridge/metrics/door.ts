// The door of `bridge/metrics`: metrics counted from events. Other parts of the room import from here.

export { BridgeMetrics, NOTHING_REPLACED, type OverflowLabel } from "./bridge-metrics.ts";
export { callFingerprint, runFingerprint } from "./fingerprint.ts";
export { observable, ownMeter } from "./instruments.ts";
export { type MetricOptions, resolveCaps, TenantTally } from "./label-values.ts";
export { failureKindOf } from "./run-outcomes.ts";
export { WaitedTime } from "./waiting-run.ts";
