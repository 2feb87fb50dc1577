import type { ViewRow, ViewVerdict } from "../format.ts";
import type { RowPlace } from "./run-index.ts";

/** Which rows of a log are asked for. */
export interface RowQuery {
  /** At least one. */
  readonly runIds: ReadonlySet<string>;
  readonly tenantId: string;
  /** No row of the runs stands before it. */
  readonly from: RowPlace;
  /** Nor behind it. */
  readonly to: RowPlace;
}

/** A log that has the audit rows of runs. */
export interface RunLog {
  /** Whether rows are stored there, or are what a replay would write. */
  readonly from: "log" | "replay";
  /** Reads rows again, in any order. */
  rows(query: RowQuery): Promise<ViewRow[]>;
  /** What its last verification has shown. */
  readonly verdict: ViewVerdict | undefined;
}
