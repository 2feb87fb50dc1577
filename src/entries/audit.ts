// `entelix-otel/audit`: stores of the audit log, reading and verifying it, and the wire form of its events.

export type { AuditCalls, AuditScope, ResumeScope } from "../audit/audit-calls.ts";
export type {
  AuditEntry,
  AuditRow,
  ErasedEvent,
  RowAnchor,
  ThreadKey,
} from "../audit/audit-row.ts";
export { AuditSink, type AuditSinkOptions } from "../audit/audit-sink.ts";
export { MemorySessionLog } from "../audit/memory-session-log.ts";
export type { Durability, NdjsonSessionLogOptions } from "../audit/ndjson/ndjson-options.ts";
export { NdjsonSessionLog } from "../audit/ndjson/ndjson-session-log.ts";
export type { Recovery } from "../audit/ndjson/open-log.ts";
export type { DamagedLine } from "../audit/ndjson/segment-scan.ts";
export type { RecordRefs } from "../audit/record-refs.ts";
export type { RowWaiter, SessionLog } from "../audit/session-log.ts";
export { toGraphEvent } from "../audit/to-graph-event.ts";
export { type ReadRowsOptions, type RowFilter, readRows } from "../audit/verify/read-rows.ts";
export type { SpanAnchor } from "../audit/verify/span-anchors.ts";
export { type VerifyOptions, verifyLog } from "../audit/verify/verify-log.ts";
export type { LogEnd, LogProblem, VerifyReport } from "../audit/verify/verify-report.ts";
export type { CitationSource, ContentPart, MediaSource } from "../audit/wire/content-part.ts";
export type {
  AnyGraphEvent,
  GraphEvent,
  GraphEventKind,
  KnownGraphEvent,
  ModelUsage,
  ModelWarning,
  RateLimitSnapshot,
  UnknownGraphEvent,
} from "../audit/wire/graph-event.ts";
export {
  type DecodedGraphEvent,
  decodeGraphEvent,
  encodeGraphEvent,
  type GraphEventIssue,
  isGraphEvent,
  isOwnGraphEvent,
} from "../audit/wire/graph-event-codec.ts";
export type {
  OwnGraphEvent,
  OwnGraphEventKind,
  RunEnded,
  RunStarted,
  ToolCallDecided,
} from "../audit/wire/own-event.ts";
