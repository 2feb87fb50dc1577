import type { LogFile } from "../../storage/file-layer.ts";
import { claimedOffset } from "./record.ts";
import type { Segment } from "./segment.ts";

/** Where a record seems to begin. */
export interface RecordStart {
  readonly position: number;
  readonly offset: number;
}

/** Bytes looked at in one step. */
const PROBE = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Looks for a record near before that of an offset, by halves of the file: nothing is kept in memory
 * for it, and a long segment costs some ten reads. What is found is only what the records claim: the
 * caller checks the one there.
 */
export async function seekRecord(
  file: LogFile,
  segment: Segment,
  offset: number,
): Promise<RecordStart> {
  let low: RecordStart = { position: 0, offset: segment.first };
  let high = segment.size;
  const buffer = Buffer.allocUnsafe(PROBE);
  while (high - low.position > 2 * PROBE) {
    const middle = Math.floor((low.position + high) / 2);
    const came = await file.read(buffer, middle);
    const start = buffer.subarray(0, came).indexOf(NEWLINE) + 1;
    const claimed = start > 0 ? claimedOffset(buffer.subarray(start, came)) : undefined;
    if (claimed !== undefined && claimed > low.offset && claimed <= offset) {
      low = { position: middle + start, offset: claimed };
    } else {
      high = middle;
    }
  }
  return low;
}
