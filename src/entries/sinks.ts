// `entelix-otel/sinks`: the other sinks.

export type {
  AgentEventSink,
  ClosableSink,
  ContentNeed,
  InnerSink,
  SentEvent,
} from "../sinks/agent-event-sink.ts";
export type { Lagged } from "../sinks/broadcast-sink.ts";
export {
  type BroadcastItem,
  type BroadcastOptions,
  BroadcastSink,
} from "../sinks/broadcast-sink.ts";
export { type CaptureOptions, CaptureSink } from "../sinks/capture-sink.ts";
export { type ChannelOptions, ChannelSink } from "../sinks/channel-sink.ts";
export type { DebugLine } from "../sinks/dropping-sink.ts";
export { type DroppingOptions, DroppingSink } from "../sinks/dropping-sink.ts";
export {
  type FailOpenHandler,
  type FailOpenOptions,
  FailOpenSink,
  type FailOpenStep,
} from "../sinks/fail-open-sink.ts";
export { FanOutSink } from "../sinks/fan-out-sink.ts";
export type { Receiver } from "../sinks/receiver.ts";
export {
  type ProvenanceSource,
  type RecorderDiagnostics,
  RecorderSink,
  type RecorderSinkOptions,
} from "../sinks/recorder-sink.ts";
export type { RecordingTarget } from "../sinks/recording-writer.ts";
export type { ContentField, RedactionHook } from "../sinks/redaction.ts";
export { StateErasureSink } from "../sinks/state-erasure-sink.ts";
