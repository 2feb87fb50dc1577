// `entelix-otel/replay`: reading recordings.

export type {
  Activity as SignOfLife,
  Decoded,
  DecodedEvent,
  DecodeIssue,
  Dialect,
  EventRank,
  JsonObject,
  LineEnvelope,
  RejectedEvent,
  SkippedLine,
  StreamKey as StreamPlace,
  UnknownEvent,
} from "../replay/dialects/dialect.ts";
export { entelixDialect } from "../replay/dialects/entelix/entelix-dialect.ts";
export type { ActivityLine as HeardLine } from "../replay/input/activity-line.ts";
export type { ByteSource } from "../replay/input/byte-source.ts";
export type { DecodedLine } from "../replay/input/decode-line.ts";
export { formatIssue, type LineIssue } from "../replay/input/decode-line.ts";
export type {
  ReadEventsOptions,
  ReadReport,
  RejectedLine,
  UnknownLine,
} from "../replay/input/event-intake.ts";
export { readEvents, SourceReadError } from "../replay/input/read-events.ts";
export type { ReorderBufferOptions } from "../replay/input/reorder-buffer.ts";
