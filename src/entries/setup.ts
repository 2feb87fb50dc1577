export {
  type Conventions,
  createSampler,
  type LossReason,
  type SpanCounts,
  type SpanLossError,
  setupTracing,
  type Tracing,
  type TracingOptions,
} from "../bridge/door.ts";
