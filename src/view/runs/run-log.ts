import type { ViewRow, ViewVerdict } from "../format.ts";

/** Position of a row in a log: segment and offset. Both are 0 in a database, which has an index of its own. */
export interface RowPosition {
  readonly segment: number;
  readonly offset: number;
}

/** Whether a position comes before another one of the same log. */
export function isBefore(one: RowPosition, other: RowPosition): boolean {
  return (
    one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset)
  );
}

/** Selects rows of a log. */
export interface RowQuery {
  /** At least one. */
  readonly runIds: ReadonlySet<string>;
  readonly tenantId: string;
  /** Position of the first row of the runs, or an earlier one. */
  readonly from: RowPosition;
  /** Position after the last row of the runs, or a later one. */
  readonly to: RowPosition;
}

/** A log that has the audit rows of runs. */
export interface RunLog {
  /** `log`: its rows are stored. `replay`: a replay would write them. */
  readonly from: "log" | "replay";
  /** Reads rows again, in any order. */
  rows(query: RowQuery): Promise<ViewRow[]>;
  /** Result of its last verification. */
  readonly verdict: ViewVerdict | undefined;
}
