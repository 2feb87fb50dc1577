// The door of `cli`: commands without a page. See ROOM.md.

export { type AuditLog, auditLogAt, logError, problemText, rowLine } from "./audit/audit-log.ts";
export { verdictOf } from "./audit/verdict.ts";
export { CliError, messageOf } from "./cli-error.ts";
export type { Command, Io, ListedCommand } from "./command.ts";
export { CLI_COMMANDS } from "./commands.ts";
export { keepCompiledCode } from "./compiled-code.ts";
export {
  DEFAULT_JAEGER,
  httpUrl,
  isLocal,
  jaegerTrace,
  signalEndpoint,
  switchedOff,
} from "./endpoints.ts";
export { closeAuditLog, openAuditLog } from "./replay/audit-directory.ts";
export {
  bytesOf,
  folderEntry,
  type InputFile,
  identityOf,
  inputFiles,
} from "./replay/input-files.ts";
export {
  checkApart,
  OUTPUTS_NOTE,
  type OutputPlan,
  planOutput,
  summaryOutput,
} from "./replay/output-plan.ts";
export { OutputWriter } from "./replay/output-writer.ts";
export { NamedRows } from "./replay/projected-rows.ts";
export { InFlight, oncePerOperation, ReplayJob, runtimesNamed } from "./replay/replay-job.ts";
export { run } from "./run.ts";
export { countOption, tenantOption } from "./services/options.ts";
export { cleanAtEnd, Interruption, leaveSoon } from "./services/signals.ts";
export { Output } from "./terminal/output.ts";
export { count, counted, table } from "./terminal/table.ts";
export { cutToWidth, padToWidth, safe, safeJson } from "./terminal/text.ts";
export { type Rejected, traceRequestOf, traceResponseBytes } from "./traces/otlp-protobuf.ts";
export {
  type Fields,
  isFields,
  listed,
  rawSpansOf,
  readSpan,
  traceRequestIn,
} from "./traces/otlp-spans.ts";
export { failureTable, RunTally } from "./traces/run-tally.ts";
export { BEGINNING_BYTES, begun, requestLines } from "./traces/span-requests.ts";
export { TraceSample, traceText } from "./traces/trace-lines.ts";
