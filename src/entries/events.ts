// `entelix-otel/events`: the parts of events and errors, and their closed sets.

export type { UsageSnapshot } from "../events/agent-event.ts";
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
  type ToolCallAsked,
  type ToolCallDenied,
  type ToolComplete,
  type ToolError,
  type ToolStart,
} from "../events/agent-event.ts";
export type { ProviderErrorOptions } from "../events/errors/agent-error.ts";
export type {
  AgentErrorDetail,
  AuthDetail,
  InterruptionKind,
  ProviderDetail,
  UsageLimitBreach,
} from "../events/errors/agent-error-detail.ts";
export {
  failureKindFromEnvelope,
  toolErrorKindFromEnvelope,
} from "../events/errors/agent-error-tables.ts";
export type { ErrorEnvelope, WireClass } from "../events/errors/error-kinds.ts";
export {
  FAILURE_KIND_IDS,
  type FailureKind,
  type FailureKindId,
  TOOL_ERROR_KINDS,
  type ToolErrorKind,
  wireId,
} from "../events/errors/error-kinds.ts";
export type { DecisionDetails, EventDetails } from "../events/event-details.ts";
export type { ExceptionDetails } from "../events/errors/exception-of.ts";
export type { EventEnvelope } from "../events/event-envelope.ts";
export type { JsonValue } from "../events/exact-json.ts";
export { parseExact, stringifyExact } from "../events/exact-json.ts";
export type { Instant } from "../events/instant.ts";
export {
  MODEL_EVENT_TYPES,
  type ModelCallUsage,
  type ModelComplete,
  type ModelError,
  type ModelEvent,
  type ModelParameters,
  type ModelStart,
} from "../events/model-event.ts";
export {
  STEP_EVENT_TYPES,
  type StepComplete,
  type StepError,
  type StepEvent,
  type StepStart,
} from "../events/step-event.ts";
