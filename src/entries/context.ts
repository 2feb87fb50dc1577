// `entelix-otel/context`: the context of a run for other processes, and the ids that follow from a run id.

export type { HeadersLike } from "../context/http-headers.ts";
export type { CarrierOptions, IgnoredReason, RunContext } from "../context/run-context.ts";
export { isRunContextSource, type RunContextSource } from "../context/run-context.ts";
export { RunIds } from "../lifecycle/run-ids.ts";
export {
  type CarrierFormat,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type InjectOptions,
  inject,
  RunContextPropagator,
} from "../otel/propagation.ts";
export { isDerivedParent } from "../otel/span-handle.ts";
export { isSpanActivator, type SpanActivator, type SpanTarget } from "../sinks/agent-event-sink.ts";
