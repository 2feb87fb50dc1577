import type { IndexedRun } from "./indexed-run.ts";
import type { RowPosition } from "./run-log.ts";

/** The rows of a run in a log. */
export interface RowRange {
  /** Number of the log. */
  readonly log: number;
  /** Position of its first row. */
  readonly from: RowPosition;
  /** Position after its last row. */
  readonly to: RowPosition;
}

/** An audit row, as far as the list counts it. */
export interface IndexedRow {
  readonly tenant_id: string;
  readonly run_id: string;
  /** RFC 3339. */
  readonly timestamp?: string | undefined;
  readonly log: number;
  /** Rows of the log with the highest standing count. */
  readonly standing: number;
  readonly from: RowPosition;
  readonly to: RowPosition;
}

/** `undefined` if the run has no rows. */
export function rowRange({ from, log, rows, to }: IndexedRun): RowRange | undefined {
  return rows === 0 ? undefined : { log, from, to };
}
