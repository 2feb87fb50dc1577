// The door of `replay`: recorded and foreign events. See ROOM.md.

export {
  type Activity,
  type Decoded,
  type DecodedEvent,
  type DecodeIssue,
  type Dialect,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
  type RejectedEvent,
  type SkippedLine,
  type StreamKey,
  type UnknownEvent,
} from "./dialects/dialect.ts";
export { entelixDialect } from "./dialects/entelix/entelix-dialect.ts";
export { graphDialect } from "./dialects/graph/graph-dialect.ts";
export { GraphMapping } from "./dialects/graph/graph-mapping.ts";
export type { Mapping } from "./dialects/mapping.ts";
export { ActivityLine } from "./input/activity-line.ts";
export { type ByteSource, textBytes } from "./input/byte-source.ts";
export { DecodedLine, formatIssue, type LineIssue, parseLine } from "./input/decode-line.ts";
export {
  EventIntake,
  type RejectedLine,
  type SourceOptions,
  type SourceReport,
  Tally,
  type UnknownLine,
} from "./input/event-intake.ts";
export {
  EventOrder,
  type EventTakers,
  type OrderedLine,
  type OrderReport,
} from "./input/event-order.ts";
export { GZIP_MAGIC, GzipError, gunzipped } from "./input/gunzip.ts";
export { LinesOfValues, opensValue } from "./input/lines-of-values.ts";
export type { NdjsonLine, OversizedPart } from "./input/ndjson-line.ts";
export { splitLines } from "./input/ndjson-reader.ts";
export {
  type ReadEventsOptions,
  type ReadReport,
  readEvents,
  readSource,
  SourceReadError,
} from "./input/read-events.ts";
export { ReorderBuffer, type ReorderBufferOptions } from "./input/reorder-buffer.ts";
export {
  type AnyRuntime,
  DIALECT_NAMES,
  mapped,
  type RecordedEvent,
  RUNTIMES,
} from "./runtimes.ts";
export { playerOf, type SignalPlayer } from "./signal-player.ts";
