// The public interface and nothing else.

// Audit
export type { AuditCalls, AuditScope, ResumeScope } from "./audit/audit-calls.ts";
export type {
  AuditEntry,
  AuditRow,
  ErasedEvent,
  RowAnchor,
  ThreadKey,
} from "./audit/audit-row.ts";
export { AuditSink, type AuditSinkOptions, type RecordRefs } from "./audit/audit-sink.ts";
export { MemorySessionLog } from "./audit/memory-session-log.ts";
export type { Durability, NdjsonSessionLogOptions } from "./audit/ndjson/ndjson-options.ts";
export { NdjsonSessionLog } from "./audit/ndjson/ndjson-session-log.ts";
export type { Recovery } from "./audit/ndjson/recover-segment.ts";
export type { DamagedLine } from "./audit/ndjson/segment-scan.ts";
export type { RowWaiter, RowWaiters } from "./audit/row-waiter.ts";
export type { SessionLog } from "./audit/session-log.ts";
export { toGraphEvent } from "./audit/to-graph-event.ts";
export { type ReadRowsOptions, type RowFilter, readRows } from "./audit/verify/read-rows.ts";
export type { SpanAnchor } from "./audit/verify/span-anchors.ts";
export { type VerifyOptions, verifyLog } from "./audit/verify/verify-log.ts";
export type { LogEnd, LogProblem, VerifyReport } from "./audit/verify/verify-report.ts";
export type { ContentPart } from "./audit/wire/content-part.ts";
export {
  type DecodedGraphEvent,
  decodeGraphEvent,
  type GraphEventIssue,
  isGraphEvent,
} from "./audit/wire/decode-graph-event.ts";
export { encodeGraphEvent } from "./audit/wire/encode-graph-event.ts";
export type {
  AnyGraphEvent,
  GraphEvent,
  GraphEventKind,
  UnknownGraphEvent,
} from "./audit/wire/graph-event.ts";
export type { CitationSource, MediaSource } from "./audit/wire/media-source.ts";
export type { ModelUsage } from "./audit/wire/model-usage.ts";
export type { ModelWarning } from "./audit/wire/model-warning.ts";
export type { RateLimitSnapshot } from "./audit/wire/rate-limit-snapshot.ts";
// Context of a run for other processes
export type { CarriedContext } from "./context/carried-context.ts";
export type { ContextSource } from "./context/context-source.ts";
export { type CarriedEnvelope, fromEnvelope, toEnvelope } from "./context/envelope-fields.ts";
export { type CarriedEnvironment, fromEnvironment, toEnvironment } from "./context/environment.ts";
export {
  fromHeaders,
  type HeadersLike,
  type ToHeadersOptions,
  toHeaders,
} from "./context/http-headers.ts";
export type { CarryOptions, IgnoredReason } from "./context/ignored-field.ts";
export { type RunParent, toRunParent } from "./context/run-parent.ts";
// Reading recordings
export type {
  Decoded,
  DecodedEvent,
  DecodeIssue,
  Dialect,
  EventRank,
  JsonObject,
  LineEnvelope,
  RejectedEvent,
  SignOfLife,
  SkippedLine,
  StreamPlace,
  UnknownEvent,
} from "./dialects/dialect.ts";
export { entelixDialect } from "./dialects/entelix/entelix-dialect.ts";
// Errors
export { AgentError, isAgentError, type ProviderErrorOptions } from "./errors/agent-error.ts";
export type {
  AgentErrorDetail,
  AuthDetail,
  InterruptionKind,
  ProviderDetail,
  UsageLimitBreach,
} from "./errors/agent-error-detail.ts";
export {
  failureKindFromEnvelope,
  toolErrorKindFromEnvelope,
} from "./errors/agent-error-tables.ts";
export { asAgentError } from "./errors/as-agent-error.ts";
export { classifyFailure, classifyToolError, envelopeOf, renderForLlm } from "./errors/classify.ts";
export { setUnclassifiedWarning, type UnclassifiedWarning } from "./errors/classify-warning.ts";
export type { ErrorEnvelope, WireClass } from "./errors/error-kinds.ts";
export {
  FAILURE_KIND_IDS,
  type FailureKind,
  type FailureKindId,
  TOOL_ERROR_KINDS,
  type ToolErrorKind,
  wireId,
} from "./errors/error-kinds.ts";
export type { RenderedForLlm } from "./errors/llm-text.ts";
export { recordedLlmText } from "./errors/llm-text.ts";
export type { UsageSnapshot } from "./events/agent-event.ts";
// Events
export {
  AGENT_EVENT_TYPES,
  type AgentEvent,
  type AgentEventType,
  type Complete,
  eraseState,
  type Failed,
  type Interrupted,
  type Started,
  type ToolCallApproved,
  type ToolCallDenied,
  type ToolComplete,
  type ToolError,
  type ToolStart,
} from "./events/agent-event.ts";
export { type EventEnvelope, SequenceCounter } from "./events/event-envelope.ts";
export type { JsonValue } from "./events/exact-json.ts";
export { parseExact, stringifyExact } from "./events/exact-json.ts";
export type { Instant } from "./events/instant.ts";
export {
  MODEL_EVENT_TYPES,
  type ModelCallUsage,
  type ModelComplete,
  type ModelError,
  type ModelEvent,
  type ModelStart,
} from "./events/model-event.ts";
export { formatRfc3339, parseRfc3339 } from "./events/rfc3339.ts";
export type { ByteSource } from "./ingest/byte-source.ts";
export type { DecodedLine } from "./ingest/decode-line.ts";
export type {
  ReadEventsOptions,
  ReadReport,
  RejectedLine,
  UnknownLine,
} from "./ingest/event-intake.ts";
export type { HeardLine } from "./ingest/heard-line.ts";
export { formatIssue, type LineIssue } from "./ingest/line-issue.ts";
export type { OrderWindowOptions } from "./ingest/order-window.ts";
export { readEvents, SourceReadError } from "./ingest/read-events.ts";
export type { LifecycleLimits } from "./lifecycle/limits.ts";
export { RunIds } from "./lifecycle/run-ids.ts";
// Bridge and telemetry
export { Bridge, type BridgeOptions } from "./otel/bridge.ts";
export { carryCurrent } from "./otel/carry-current.ts";
export type { ContentOptions } from "./otel/content.ts";
export type { AttributeHook, SpanInfo } from "./otel/custom-attributes.ts";
export type { Diagnostics } from "./otel/diagnostics.ts";
export type { ParentResolver, RootParent } from "./otel/event-place.ts";
export { createIdGenerator, type IdGeneratorLike } from "./otel/id-generator.ts";
export type { OverflowLabel } from "./otel/metrics/bridge-counts.ts";
export type { LabelOption, MetricOptions } from "./otel/metrics/metric-options.ts";
export type { ErrorHook } from "./otel/report.ts";
export { isDerivedParent } from "./otel/span-handle.ts";
export type { TelemetryOptions } from "./otel/telemetry-options.ts";
// Sinks
export type { AgentEventSink } from "./sinks/agent-event-sink.ts";
export {
  type BroadcastItem,
  type BroadcastOptions,
  BroadcastSink,
} from "./sinks/broadcast-sink.ts";
export { type CaptureOptions, CaptureSink } from "./sinks/capture-sink.ts";
export { type ChannelOptions, ChannelSink } from "./sinks/channel-sink.ts";
export type { ClosableSink, InnerSink } from "./sinks/closable-sink.ts";
export {
  type ContextCarrier,
  type InsidePlace,
  isContextCarrier,
} from "./sinks/context-carrier.ts";
export type { DebugLine } from "./sinks/debug-line.ts";
export { type DroppingOptions, DroppingSink } from "./sinks/dropping-sink.ts";
export {
  type FailOpenHandler,
  type FailOpenOptions,
  FailOpenSink,
  type FailOpenStep,
} from "./sinks/fail-open-sink.ts";
export { FanOutSink } from "./sinks/fan-out-sink.ts";
export type { Lagged } from "./sinks/lagging-buffer.ts";
export type { Receiver } from "./sinks/receiver.ts";
export {
  type ProvenanceSource,
  type RecorderDiagnostics,
  RecorderSink,
  type RecorderSinkOptions,
} from "./sinks/recorder-sink.ts";
export type { RecordingTarget } from "./sinks/recording-writer.ts";
export type { ContentField, RedactionHook } from "./sinks/redaction.ts";
export type { SentEvent } from "./sinks/sent-event.ts";
export { StateErasureSink } from "./sinks/state-erasure-sink.ts";
export type {
  DirectoryLock,
  FileLayer,
  LockHolder,
  LogFile,
  OpenMode,
} from "./storage/file-layer.ts";

export { VERSION } from "./version.ts";
