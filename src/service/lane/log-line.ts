import type { LogLine } from "../../ingest/journal/log-line.ts";

export type { LogLine } from "../../ingest/journal/log-line.ts";

/** A line as a lane takes it. */
export interface LaneLine extends LogLine {
  /**
   * More lines of this offset follow, as where one record of a topic holds several: the offset is not
   * done before the last of them. Default `false`.
   */
  readonly more?: boolean;
}
