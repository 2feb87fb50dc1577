// `entelix-otel/context`: the context of a run for other processes, and the ids that follow from a run id.

export type { CarriedContext } from "../context/carried-context.ts";
export type { ContextSource } from "../context/context-source.ts";
export { type CarriedEnvelope, fromEnvelope, toEnvelope } from "../context/envelope-fields.ts";
export { type CarriedEnvironment, fromEnvironment, toEnvironment } from "../context/environment.ts";
export {
  fromHeaders,
  type HeadersLike,
  type ToHeadersOptions,
  toHeaders,
} from "../context/http-headers.ts";
export type { CarryOptions, IgnoredReason } from "../context/ignored-field.ts";
export { type RunParent, toRunParent } from "../context/run-parent.ts";
export { RunIds } from "../lifecycle/run-ids.ts";
export { carryCurrent } from "../otel/carry-current.ts";
export { isDerivedParent } from "../otel/span-handle.ts";
export {
  type ContextCarrier,
  type InsidePlace,
  isContextCarrier,
} from "../sinks/agent-event-sink.ts";
