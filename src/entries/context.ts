// `entelix-otel/context`: the context of a run for other processes, and the ids that follow from a run id.

export {
  type CarrierFormat,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type InjectOptions,
  inject,
  RunContextPropagator,
} from "../bridge/spans/propagation.ts";
export { isDerivedParent } from "../bridge/spans/span-handle.ts";
export type { HeadersLike } from "../events/context/http-headers.ts";
export type { CarrierOptions, IgnoredReason, RunContext } from "../events/context/run-context.ts";
export { isRunContextSource, type RunContextSource } from "../events/context/run-context.ts";
export { RunIds } from "../events/ids/run-ids.ts";
export {
  isSpanActivator,
  type SpanActivator,
  type SpanTarget,
} from "../events/sinks/agent-event-sink.ts";
