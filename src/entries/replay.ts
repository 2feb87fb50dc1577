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
} from "../dialects/dialect.ts";
export { entelixDialect } from "../dialects/entelix/entelix-dialect.ts";
export type { ActivityLine as HeardLine } from "../ingest/activity-line.ts";
export type { ByteSource } from "../ingest/byte-source.ts";
export type { DecodedLine } from "../ingest/decode-line.ts";
export { formatIssue, type LineIssue } from "../ingest/decode-line.ts";
export type {
  ReadEventsOptions,
  ReadReport,
  RejectedLine,
  UnknownLine,
} from "../ingest/event-intake.ts";
export { readEvents, SourceReadError } from "../ingest/read-events.ts";
export type { ReorderBufferOptions } from "../ingest/reorder-buffer.ts";
