import type { AuditRow, RowAnchor, ThreadKey } from "../audit-row.ts";
import { threadPrefix } from "../row-text.ts";
import type { LogFile } from "../storage/file-layer.ts";
import { fileLines } from "../storage/file-lines.ts";
import { withEvent } from "../stored-row.ts";
import { readLogLine } from "./log-line.ts";

export interface ThreadRowsSource {
  /** For messages. */
  readonly name: string;
  readonly file: LogFile;
  /** Read up to this offset. */
  readonly bytes: number;
}

/**
 * Adds the rows of a thread with ordinals above `after` to `rows`, in the order of the file.
 *
 * @throws Error naming file and line when a row is damaged or not the one that must follow: what was
 *   tampered with is not given out as a record.
 */
export async function readThreadRows(
  source: ThreadRowsSource,
  key: ThreadKey,
  after: number,
  rows: AuditRow[],
): Promise<void> {
  const prefix = Buffer.from(threadPrefix(key));
  for await (const { bytes, number } of fileLines(source.file, source.bytes)) {
    if (bytes.length < prefix.length || prefix.compare(bytes, 0, prefix.length) !== 0) continue;
    const line = readLogLine(bytes);
    const place = `${source.name}, line ${number}`;
    if (line.type === "invalid") {
      if (line.claim !== undefined && line.claim.ordinal <= after) continue;
      throw damaged(place, line.problem);
    }
    if (line.type !== "row" || line.row.ordinal <= after) continue;
    const before: RowAnchor | undefined = rows.at(-1);
    if (line.row.ordinal !== (before?.ordinal ?? after) + 1) {
      throw damaged(place, `row ${line.row.ordinal} is not the one that must follow`);
    }
    if (before !== undefined && line.row.prev !== before.hash) {
      throw damaged(place, `row ${line.row.ordinal} does not continue the row before`);
    }
    const row = withEvent(line.row);
    if (row === undefined) throw damaged(place, "the event is no JSON object with a kind");
    rows.push(row);
  }
}

function damaged(place: string, problem: string): Error {
  return new Error(`${place}: ${problem}; verify the log`);
}
