// The public interface: what users register, configure or catch. The rest is in the entries beside this file in `src/entries`.

export type { AuditCalls } from "./audit/audit-calls.ts";
export type { SessionLog } from "./audit/session-log.ts";
export { Bridge, type BridgeOptions } from "./bridge/bridge.ts";
export type { Diagnostics } from "./bridge/diagnostics.ts";
export type { ParentResolver, RootParent } from "./bridge/event-context.ts";
export type { LifecycleLimits } from "./bridge/lifecycle/limits.ts";
export type { MetricOptions } from "./bridge/metrics/label-values.ts";
export type { OpenRun } from "./bridge/open-runs.ts";
export type { ErrorHook } from "./bridge/report.ts";
export type { ContentOptions } from "./bridge/spans/content.ts";
export type { AttributeHook, SpanInfo } from "./bridge/spans/custom-attributes.ts";
export { createIdGenerator, type IdGeneratorLike } from "./bridge/spans/id-generator.ts";
export type { TelemetryOptions } from "./bridge/telemetry-options.ts";
export type { AgentEvent } from "./events/agent-event.ts";
export { AgentError, isAgentError } from "./events/errors/agent-error.ts";
export { asAgentError } from "./events/errors/as-agent-error.ts";
export {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "./events/errors/classify.ts";
export {
  setUnclassifiedWarning,
  type UnclassifiedWarning,
} from "./events/errors/classify-warning.ts";
export type { ErrorEnvelope, FailureKind, ToolErrorKind } from "./events/errors/error-kinds.ts";
export type { FailureOrigin, FailureSource } from "./events/errors/failure-source.ts";
export type { RenderedForLlm } from "./events/errors/llm-text.ts";
export { type EventEnvelope, SequenceCounter } from "./events/event-envelope.ts";
export type { ModelEvent } from "./events/model-event.ts";
export type { AgentEventSink, ContentNeed } from "./events/sinks/agent-event-sink.ts";
export type { RedactionHook } from "./events/sinks/redaction.ts";
export { VERSION } from "./version.ts";
