// The public interface: what users register, configure or catch. The rest is in the entries beside this file in
// `src/entries`.

export type { AuditCalls, SessionLog } from "./audit/door.ts";
export {
  type AttributeHook,
  Bridge,
  type BridgeOptions,
  type ContentOptions,
  createIdGenerator,
  type Diagnostics,
  type ErrorHook,
  type IdGeneratorLike,
  type LifecycleLimits,
  type MetricOptions,
  type OpenRun,
  type ParentResolver,
  type RootParent,
  type SpanInfo,
  type TelemetryOptions,
} from "./bridge/door.ts";
export {
  AgentError,
  type AgentEvent,
  type AgentEventSink,
  asAgentError,
  type ContentNeed,
  classifyFailure,
  classifyToolError,
  type ErrorEnvelope,
  type EventEnvelope,
  envelopeOf,
  type FailureKind,
  type FailureOrigin,
  type FailureSource,
  isAgentError,
  type ModelEvent,
  type RedactionHook,
  type RenderedForLlm,
  renderForLlm,
  SequenceCounter,
  setUnclassifiedWarning,
  type ToolErrorKind,
  type UnclassifiedWarning,
} from "./events/door.ts";
export { VERSION } from "./version.ts";
