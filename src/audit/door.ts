// The door of `audit`: rows and stores of the log. See ROOM.md.

export type { AuditCalls, AuditScope, ResumeScope } from "./audit-calls.ts";
export {
  type AuditEntry,
  type AuditRow,
  EMPTY_THREAD,
  type ErasedEvent,
  type RowAnchor,
  type ThreadKey,
  threadText,
} from "./audit-row.ts";
export {
  AuditSink,
  type AuditSinkOptions,
  type CalledRun,
  type PreparedRows,
} from "./audit-sink.ts";
export { type EventRefs, refsOf } from "./event-ids.ts";
export {
  AUDIT_ROWS,
  type AuditRows,
  checkAuditRows,
  isUpstreamKind,
  leavesRows,
  type RunFacts,
  signalRows,
  toGraphEvent,
} from "./event-rows.ts";
export { MemorySessionLog } from "./memory-session-log.ts";
export {
  type Durability,
  type NdjsonSessionLogOptions,
  urlScheme,
} from "./ndjson/ndjson-options.ts";
export { NdjsonSessionLog } from "./ndjson/ndjson-session-log.ts";
export type { Recovery } from "./ndjson/open-log.ts";
export type { DamagedLine } from "./ndjson/segment-scan.ts";
export { logPaths, segmentName } from "./ndjson/segment-store.ts";
export { openReader, type PostgresLogSource } from "./postgres/open-database.ts";
export {
  type PgClient,
  type PgPool,
  type PgResult,
  type PgStatement,
  sqlState,
} from "./postgres/pg-pool.ts";
export {
  isPostgresUrl,
  type PostgresSessionLogOptions,
  type PostgresSettings,
  type PostgresSource,
} from "./postgres/postgres-options.ts";
export { PostgresSessionLog } from "./postgres/postgres-session-log.ts";
export { type ReadPostgresRowsOptions, readPostgresRows } from "./postgres/read-postgres-rows.ts";
export { type VerifyPostgresOptions, verifyPostgresLog } from "./postgres/verify-postgres-log.ts";
export { type RowWaiter, reportWhenStored, type SessionLog } from "./session-log.ts";
export { type CommitBatch, CommitQueue } from "./storage/commit-queue.ts";
export type { FileLayer, LogFile, RemovingFileLayer } from "./storage/file-layer.ts";
export { type FileLine, fileLineBatches, lineText, MAX_LINE_BYTES } from "./storage/file-lines.ts";
export {
  copyBytes,
  openAsIs,
  orClosed,
  setAside,
  syncFile,
  takeRoom,
  writeFully,
  writeThroughDraft,
} from "./storage/file-writes.ts";
export { logFilesIn, logThatOwns, refuseForeignLog } from "./storage/foreign-log.ts";
export { ChunkPool, LineChunks } from "./storage/line-chunks.ts";
export { LockedDirectory } from "./storage/locked-directory.ts";
export { nodeFileLayer } from "./storage/node-file-layer.ts";
export {
  checkFile,
  checkInput,
  fileBytes,
  inputBytes,
  inputText,
  type OnWait,
  openFile,
} from "./storage/open-input.ts";
export { numbersOf, SegmentedLog, type SegmentStart } from "./storage/segmented-log.ts";
export {
  type LogPosition,
  type PlacedRow,
  placedRows,
  type ReadRowsOptions,
  type RowFilter,
  readRows,
} from "./verify/read-rows.ts";
export { segmentFiles } from "./verify/segment-files.ts";
export type { SpanAnchor } from "./verify/span-anchors.ts";
export { type VerifyOptions, verifyLog } from "./verify/verify-log.ts";
export type { LogEnd, LogProblem, VerifyReport } from "./verify/verify-report.ts";
export type { CitationSource, ContentPart, MediaSource } from "./wire/content-part.ts";
export type {
  AgentHandoff,
  AnyGraphEvent,
  AssistantMessage,
  BranchCreated,
  Cancelled,
  CheckpointMarker,
  ContextCompacted,
  ErrorRecorded,
  GraphEvent,
  GraphEventKind,
  Interrupt,
  KnownGraphEvent,
  MemoryRecall,
  ModelUsage,
  ModelWarning,
  RateLimit,
  RateLimitSnapshot,
  SubAgentInvoked,
  ToolCall,
  ToolErrorTerminal,
  ToolResult,
  UnknownGraphEvent,
  UsageLimitExceeded,
  Warning,
} from "./wire/graph-event.ts";
export {
  type DecodedGraphEvent,
  decodeGraphEvent,
  encodeGraphEvent,
  type GraphEventIssue,
  isGraphEvent,
  isOwnGraphEvent,
} from "./wire/graph-event-codec.ts";
export { knownEventForm } from "./wire/graph-event-form.ts";
export type {
  OwnGraphEvent,
  OwnGraphEventKind,
  RowUsage,
  RunEnded,
  RunStarted,
  ToolCallDecided,
} from "./wire/own-event.ts";
