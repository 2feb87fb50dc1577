// `entelix-otel/sinks`: the other sinks.

export type {
  AgentEventSink,
  ClosableSink,
  ContentNeed,
  InnerSink,
  SentEvent,
} from "../events/sinks/agent-event-sink.ts";
export type { Lagged } from "../events/sinks/broadcast-sink.ts";
export {
  type BroadcastItem,
  type BroadcastOptions,
  BroadcastSink,
} from "../events/sinks/broadcast-sink.ts";
export { type CaptureOptions, CaptureSink } from "../events/sinks/capture-sink.ts";
export { type ChannelOptions, ChannelSink } from "../events/sinks/channel-sink.ts";
export type { DebugLine } from "../events/sinks/dropping-sink.ts";
export { type DroppingOptions, DroppingSink } from "../events/sinks/dropping-sink.ts";
export {
  type FailOpenHandler,
  type FailOpenOptions,
  FailOpenSink,
  type FailOpenStep,
} from "../events/sinks/fail-open-sink.ts";
export { FanOutSink } from "../events/sinks/fan-out-sink.ts";
export type { Receiver } from "../events/sinks/receiver.ts";
export {
  type ProvenanceSource,
  type RecorderDiagnostics,
  RecorderSink,
  type RecorderSinkOptions,
} from "../events/sinks/recorder-sink.ts";
export type { RecordingTarget } from "../events/sinks/recording-writer.ts";
export type { ContentField, RedactionHook } from "../events/sinks/redaction.ts";
export { StateErasureSink } from "../events/sinks/state-erasure-sink.ts";
