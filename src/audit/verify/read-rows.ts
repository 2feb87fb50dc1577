import {
  canonicalRunId,
  checkEach,
  checkedElsewhere,
  checkFunction,
  withoutRejections,
} from "../../events/door.ts";
import type { AuditRow } from "../audit-row.ts";
import { readLogLine } from "../ndjson/log-line.ts";
import { logPaths, SegmentStore, segmentName } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { fileLineBatches } from "../storage/file-lines.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import { type StoredRow, withEvent } from "../stored-row.ts";
import { CUT, missingSegments, NO_LOG, segmentFiles } from "./segment-files.ts";
import type { LogProblem } from "./verify-report.ts";

/** The wanted rows. An absent field matches every row. */
export interface RowFilter {
  readonly tenant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  /** A UUID in any case: sinks and bridge write it in lower case. */
  readonly run_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly trace_id?: string | undefined;
}

/** A position between two lines of a log. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
  /** Lines of the segment before the position, for line numbers in problems. Default 0. */
  readonly lines?: number | undefined;
}

/** A row and its position. */
export interface PlacedRow {
  readonly row: AuditRow;
  readonly from: LogPosition;
  readonly to: LogPosition;
}

/** Options of `readRows`. */
export interface ReadRowsOptions {
  /**
   * Called with every line that is incomplete or changed, with missing segments, and if there is no log. Default: no
   * call.
   */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

/** Options for reading a part of a log. */
export interface PlacedRowsOptions extends ReadRowsOptions {
  /** Start of the part. Default: the start of the log. Missing segments before it are not reported. */
  readonly from?: LogPosition | undefined;
  /** Reads up to this position. Default: to the end. */
  readonly to?: LogPosition | undefined;
  /** Called with the position after each complete line, where reading can continue. Default: not called. */
  readonly onPosition?: ((position: LogPosition) => void) | undefined;
}

/**
 * The rows of a log in the order they were written, including archived ones. Takes no lock and can run while a
 * process writes. Then the last rows may not be committed yet.
 *
 * @throws with the system's error when a file cannot be read.
 *
 * @example
 * for await (const row of readRows("./audit", { run_id })) console.log(row.ordinal, row.event_text);
 */
export async function* readRows(
  directory: string,
  filter: RowFilter = {},
  options: ReadRowsOptions = {},
): AsyncGenerator<AuditRow, void, void> {
  const checked = checkEach(options, { onProblem: checkFunction, files: checkedElsewhere });
  for await (const { row } of placedRows(directory, filter, checked)) yield row;
}

/**
 * The same rows with their positions, for reading a part of a log again or continuing as it grows.
 *
 * @throws as `readRows` does.
 */
export async function* placedRows(
  directory: string,
  filter: RowFilter = {},
  options: PlacedRowsOptions = {},
): AsyncGenerator<PlacedRow, void, void> {
  const { files = nodeFileLayer, from, to } = options;
  const onPosition = withoutRejections(options.onPosition);
  const onProblem = withoutRejections(options.onProblem);
  const paths = logPaths(directory);
  const store = new SegmentStore(files, paths);
  const { last, present } = await segmentFiles(files, paths);
  const runs = filter.run_id === undefined ? undefined : runIdsOf(filter.run_id);
  let next = from?.segment ?? 1;
  for (const number of present) {
    if (number < next) continue;
    if (to !== undefined && number > to.segment) return;
    const found = await store.open(number);
    if (found === undefined) continue;
    try {
      if (next < number) onProblem(missingSegments(next, number - 1));
      next = number + 1;
      const begin = number === from?.segment ? from : { offset: 0, lines: 0 };
      const end = number === to?.segment ? Math.min(to.offset, found.bytes) : found.bytes;
      // The segment was truncated since: nothing is left to read.
      if (begin.offset > end) continue;
      const before = begin.lines ?? 0;
      for await (const lines of fileLineBatches(found.file, begin.offset, end)) {
        for (const { bytes, end: offset, ended, number: at, start, tooLong } of lines) {
          const file = segmentName(number);
          const line = before + at;
          if (!ended) {
            // In the last segment, a process is writing or a crash left the line.
            if (number !== last) onProblem({ file, line, problem: CUT });
            break;
          }
          const position: LogPosition = { segment: number, offset, lines: line };
          onPosition(position);
          const read = tooLong ? undefined : readLogLine(bytes);
          if (read === undefined || read.type === "invalid") {
            onProblem({ file, line, problem: read?.problem ?? "longer than any line of a log" });
            continue;
          }
          if (read.type !== "row" || !isWanted(read.row, filter, runs)) continue;
          const row = withEvent(read.row);
          if (row === undefined) onProblem({ file, line, problem: "the event is no JSON object" });
          else
            yield { row, from: { segment: number, offset: start, lines: line - 1 }, to: position };
        }
      }
    } finally {
      await found.file.close();
    }
  }
  if (to !== undefined) return;
  if (next <= last) onProblem(missingSegments(next, last));
  if (last === 0) onProblem({ file: directory, line: 0, problem: NO_LOG });
}

/** The run IDs that rows may have: as given, and in the case that sinks write. */
export function runIdsOf(runId: string): readonly string[] {
  return [...new Set([runId, canonicalRunId(runId)])];
}

function isWanted(
  row: StoredRow,
  filter: RowFilter,
  runs: readonly (string | null)[] | undefined,
): boolean {
  return (
    (filter.tenant_id === undefined || filter.tenant_id === row.tenant_id) &&
    (filter.thread_id === undefined || filter.thread_id === row.thread_id) &&
    (runs === undefined || runs.includes(row.run_id)) &&
    (filter.event_id === undefined || filter.event_id === row.event_id) &&
    (filter.trace_id === undefined || filter.trace_id === row.trace_id)
  );
}
