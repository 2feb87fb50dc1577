// `entelix-otel/context`: the context of a run for other processes, and the ids that follow from a run id.

export {
  type CarrierFormat,
  currentRunContext,
  type ExtractOptions,
  extract,
  extractedRunContext,
  type InjectOptions,
  inject,
  isDerivedParent,
  RunContextPropagator,
} from "../bridge/door.ts";
export {
  type CarrierOptions,
  type HeadersLike,
  type IgnoredReason,
  isRunContextSource,
  isSpanActivator,
  type RunContext,
  type RunContextSource,
  RunIds,
  type SpanActivator,
  type SpanTarget,
} from "../events/door.ts";
