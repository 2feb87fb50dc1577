import { canonicalRunId } from "../../events/door.ts";
import type { AuditRow } from "../audit-row.ts";
import { readLogLine } from "../ndjson/log-line.ts";
import { logPaths, SegmentStore, segmentName } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { fileLineBatches } from "../storage/file-lines.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import { type StoredRow, withEvent } from "../stored-row.ts";
import { CUT, missingSegments, NO_LOG, segmentFiles } from "./segment-files.ts";
import type { LogProblem } from "./verify-report.ts";

/** Which rows are wanted; what is not said does not matter. */
export interface RowFilter {
  readonly tenant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  /** A UUID in any letters: sinks and bridge write it in lower case. */
  readonly run_id?: string | undefined;
  readonly event_id?: string | undefined;
  readonly trace_id?: string | undefined;
}

/** A place in a log between two lines. */
export interface LogPlace {
  readonly segment: number;
  readonly offset: number;
  /** Lines of the segment before it, where they are known: for the numbers in problems. Default 0. */
  readonly lines?: number | undefined;
}

/** A row, and where it is. */
export interface PlacedRow {
  readonly row: AuditRow;
  readonly from: LogPlace;
  readonly to: LogPlace;
}

/** How `readRows` reads. */
export interface ReadRowsOptions {
  /**
   * Told of every line that is no whole, unchanged line of a log, of segments that are missing, and
   * where there is no log at all. Default: none is told.
   */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

/** How a part of a log is read. */
export interface PlacedRowsOptions extends ReadRowsOptions {
  /** Start of the part. Default: the start of the log. Missing segments before it are not reported. */
  readonly from?: LogPlace | undefined;
  /** Reads up to this place. Default: to the end. */
  readonly to?: LogPlace | undefined;
  /** Called with the position after each complete line, where reading can continue. Default: not called. */
  readonly onPlace?: ((place: LogPlace) => void) | undefined;
}

/**
 * The rows of a log in the order they were written, archived ones too. It takes no lock and may run
 * beside the writer, whose last rows may then be ones that are not committed yet.
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
  for await (const { row } of placedRows(directory, filter, options)) yield row;
}

/**
 * The same rows with their places: for who reads a part of a log again, or reads on as it grows.
 *
 * @throws as `readRows` does.
 */
export async function* placedRows(
  directory: string,
  filter: RowFilter = {},
  options: PlacedRowsOptions = {},
): AsyncGenerator<PlacedRow, void, void> {
  const { files = nodeFileLayer, from, onPlace, onProblem = () => {}, to } = options;
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
      // It was cut since: nothing is there.
      if (begin.offset > end) continue;
      const before = begin.lines ?? 0;
      for await (const lines of fileLineBatches(found.file, begin.offset, end)) {
        for (const { bytes, end: offset, ended, number: at, start, tooLong } of lines) {
          const file = segmentName(number);
          const line = before + at;
          if (!ended) {
            // In the last one the writer is at work, or a crash has left it.
            if (number !== last) onProblem({ file, line, problem: CUT });
            break;
          }
          const place: LogPlace = { segment: number, offset, lines: line };
          onPlace?.(place);
          const read = tooLong ? undefined : readLogLine(bytes);
          if (read === undefined || read.type === "invalid") {
            onProblem({ file, line, problem: read?.problem ?? "longer than any line of a log" });
            continue;
          }
          if (read.type !== "row" || !isWanted(read.row, filter, runs)) continue;
          const row = withEvent(read.row);
          if (row === undefined) onProblem({ file, line, problem: "the event is no JSON object" });
          else yield { row, from: { segment: number, offset: start, lines: line - 1 }, to: place };
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

/** As which a run may stand in rows: as it was asked for, and in the letters that sinks write. */
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
