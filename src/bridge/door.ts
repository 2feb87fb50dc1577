// The door of `bridge`: from events to spans, metrics and rows. See ROOM.md.

export { Bridge, type BridgeInternals, internalsOf } from "./bridge.ts";
export type { Diagnostics } from "./diagnostics.ts";
export type { ParentResolver, RootParent } from "./event-context.ts";
export { Backoff, Retry, type RetryDelays } from "./export/door.ts";
export {
  type Adjustment,
  IdCache,
  type IgnoredReason,
  inSegment,
  type LifecycleLimits,
  type Outcome,
  type Run,
  WAIT_KINDS,
  type WaitKind,
} from "./lifecycle/door.ts";
export { type MetricOptions, WaitedTime } from "./metrics/door.ts";
export type { OpenRun } from "./open-runs.ts";
export { environmentWarnings, watchedTelemetry } from "./output/command-telemetry.ts";
export { type Delivery, OtlpEndpoint, type Probe, probe } from "./output/otlp-endpoint.ts";
export {
  createReplayProvider,
  type ServiceResource,
  serviceResource,
  UNNAMED,
  UNNAMED_HINT,
} from "./output/replay-provider.ts";
export {
  attributeText,
  type FinishedSpan,
  type SpanAttributes,
  SpanLines,
  SpanOutlet,
  type SpanTarget,
  type SpanValue,
  type StartedSpan,
} from "./output/span-outlet.ts";
export type {
  LoggerLike,
  LoggerProviderLike,
  LogRecordLike,
  ProgressOptions,
} from "./progress-options.ts";
export type { ErrorHook } from "./report.ts";
export type { RunRows, SegmentRows } from "./run-rows.ts";
export {
  createSampler,
  isRegistered,
  type LossReason,
  type MetricReaderLike,
  metricsUrl,
  type ProcessTelemetry,
  type Protocol,
  protocolChoice,
  protocolFromEnvironment,
  type SpanCounts,
  type SpanLossError,
  setupTelemetry,
  setupTracing,
  shownUrl,
  type TelemetrySetupOptions,
  type Tracing,
  type TracingOptions,
  tracesUrl,
} from "./setup/door.ts";
export {
  type AttributeHook,
  type CarrierFormat,
  type ContentOptions,
  capturesByEnvironment,
  createIdGenerator,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type IdGeneratorLike,
  type InjectOptions,
  idSlot,
  inject,
  isDerivedParent,
  RunContextPropagator,
  type SpanHandle,
  type SpanInfo,
  type SpanRefs,
  spanRefs,
  within,
} from "./spans/door.ts";
export { ReplayFilter, type RunSegment } from "./stores/replay-filter.ts";
export { MOST_SPANS, SpanExports } from "./stores/span-exports.ts";
export { noSpanStore, OtlpSpanStore, type SpanStore } from "./stores/span-store.ts";
export { InFlightSet, MOST_BYTES, roughBytes, StoreFlow } from "./stores/store-flow.ts";
export type { Telemetry } from "./telemetry.ts";
export type { BridgeOptions, SpanChoices, TelemetryOptions } from "./telemetry-options.ts";
