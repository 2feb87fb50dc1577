// The public interface: what users register, configure or catch. The rest is in the entries beside this file in `src/entries`.

export type { AuditCalls } from "./audit/audit-calls.ts";
export type { SessionLog } from "./audit/session-log.ts";
export { AgentError, isAgentError } from "./errors/agent-error.ts";
export { asAgentError } from "./errors/as-agent-error.ts";
export { classifyFailure, classifyToolError, envelopeOf, renderForLlm } from "./errors/classify.ts";
export { setUnclassifiedWarning, type UnclassifiedWarning } from "./errors/classify-warning.ts";
export type { ErrorEnvelope, FailureKind, ToolErrorKind } from "./errors/error-kinds.ts";
export type { FailureOrigin, FailureSource } from "./errors/failure-source.ts";
export type { RenderedForLlm } from "./errors/llm-text.ts";
export type { AgentEvent } from "./events/agent-event.ts";
export { type EventEnvelope, SequenceCounter } from "./events/event-envelope.ts";
export type { ModelEvent } from "./events/model-event.ts";
export type { LifecycleLimits } from "./lifecycle/limits.ts";
export { Bridge, type BridgeOptions } from "./otel/bridge.ts";
export type { ContentOptions } from "./otel/content.ts";
export type { AttributeHook, SpanInfo } from "./otel/custom-attributes.ts";
export type { Diagnostics } from "./otel/diagnostics.ts";
export type { ParentResolver, RootParent } from "./otel/event-context.ts";
export { createIdGenerator, type IdGeneratorLike } from "./otel/id-generator.ts";
export type { MetricOptions } from "./otel/metrics/label-values.ts";
export type { OpenRun } from "./otel/open-runs.ts";
export type { ErrorHook } from "./otel/report.ts";
export type { TelemetryOptions } from "./otel/telemetry-options.ts";
export type { AgentEventSink, ContentNeed } from "./sinks/agent-event-sink.ts";
export type { RedactionHook } from "./sinks/redaction.ts";
export { VERSION } from "./version.ts";
