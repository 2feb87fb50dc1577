// The door of `bridge`: from events to spans, metrics and rows. See ROOM.md.

export { Bridge, type BridgeInternals, internalsOf } from "./bridge.ts";
export type { Diagnostics } from "./diagnostics.ts";
export type { ParentResolver, RootParent } from "./event-context.ts";
export { Backoff, Retry, type RetryDelays } from "./export/retry.ts";
export { roughBytes } from "./export/rough-bytes.ts";
export { isRegistered } from "./global-registration.ts";
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
export type { MetricOptions } from "./metrics/label-values.ts";
export { isBefore, WaitedTime } from "./metrics/waiting-run.ts";
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
export { SpanBatches, type SpanEncoding, type SpanTarget } from "./output/span-batches.ts";
export {
  attributeText,
  type FinishedSpan,
  type SpanAttributes,
  SpanLines,
  SpanOutlet,
  type SpanStarted,
  type SpanValue,
  type StartedSpan,
} from "./output/span-outlet.ts";
export type {
  LoggerLike,
  LoggerProviderLike,
  LogRecordLike,
  LogValue,
  ProgressOptions,
} from "./progress-options.ts";
export type { ErrorHook } from "./report.ts";
export type { RunRows, SegmentRows } from "./run-rows.ts";
export {
  metricsUrl,
  protocolChoice,
  protocolFromEnvironment,
  tracesUrl,
} from "./setup/exporter-choice.ts";
export {
  type MetricReaderLike,
  type ProcessTelemetry,
  setupTelemetry,
  type TelemetrySetupOptions,
} from "./setup/metrics/setup-telemetry.ts";
export { beforeProcessEnds, type EndOptions } from "./setup/process-end.ts";
export { createSampler } from "./setup/sampler.ts";
export { setupTracing } from "./setup/setup-tracing.ts";
export { type SetupStep, watchSetups } from "./setup/setup-watch.ts";
export { shownUrl } from "./setup/shown-url.ts";
export type { LossReason, SpanCounts, SpanLossError } from "./setup/span-ledger.ts";
export type { Tracing } from "./setup/tracing.ts";
export type { TracingOptions } from "./setup/tracing-options.ts";
export { type ContentOptions, capturesByEnvironment } from "./spans/content.ts";
export type { AttributeHook, SpanInfo } from "./spans/custom-attributes.ts";
export { inFoundContext } from "./spans/found-context.ts";
export { createIdGenerator, type IdGeneratorLike, idSlot } from "./spans/id-generator.ts";
export { CONVENTIONS, type Conventions } from "./spans/openinference/finisher.ts";
export { operationOf } from "./spans/openinference/operation.ts";
export {
  type CarrierFormat,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type InjectOptions,
  inject,
  RunContextPropagator,
} from "./spans/propagation.ts";
export { isDerivedParent, type SpanHandle, type SpanRefs, spanRefs } from "./spans/span-handle.ts";
export type { SubjectOptions } from "./spans/subject.ts";
export { within } from "./spans/within.ts";
export { ReplayFilter, type RunSegment } from "./stores/replay-filter.ts";
export { MOST_SPANS, SpanExports } from "./stores/span-exports.ts";
export { noSpanStore, OtlpSpanStore, type SpanStore } from "./stores/span-store.ts";
export { InFlightSet, MOST_BYTES, StoreFlow } from "./stores/store-flow.ts";
export type { Telemetry } from "./telemetry.ts";
export type { BridgeOptions, SpanChoices, TelemetryOptions } from "./telemetry-options.ts";
