import { join } from "node:path";
import { type FileLayer, lineText, openAsIs, takeRoom, writeFully } from "../../audit/door.ts";
import { isCount, parseJson } from "../../events/door.ts";
import { checked, withChecksum } from "./record.ts";

/** The state of the journal at one time. */
export interface Checkpoint {
  /** The lowest offset that is still needed. */
  readonly position: number;
  /**
   * Results of all lines below this offset are stored, although some lines are still needed. Never below `position`.
   */
  readonly stored: number;
  /** End of the journal at the checkpoint. All lines below were on the disk, so missing ones are damage. */
  readonly end: number;
}

/** Maximum number of bytes that are read. A checkpoint is far smaller. */
const MOST = 4096;
/** Content of the file that reserves disk space. Larger than a checkpoint. */
const ROOM = Buffer.alloc(256, " ");

export function checkpointPath(directory: string): string {
  return join(directory, "checkpoint");
}

/** @returns `undefined` if there is none, `"unreadable"` if it is damaged. */
export async function readCheckpoint(
  files: FileLayer,
  directory: string,
): Promise<Checkpoint | undefined | "unreadable"> {
  const file = await files.open(checkpointPath(directory), "read");
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(MOST);
    const length = await file.read(buffer, 0);
    return parse(checked(buffer.subarray(0, Math.max(0, length - 1)))) ?? "unreadable";
  } finally {
    await file.close();
  }
}

/**
 * Reserves disk space for checkpoints. On a full disk none could be written otherwise, so no old file would be removed,
 * and the disk would stay full.
 *
 * @param now is written if it is newer than the current checkpoint, or there is none. Replacing a checkpoint makes room
 *   for the next one.
 */
export async function prepareCheckpoints(
  files: FileLayer,
  directory: string,
  now: Checkpoint,
): Promise<void> {
  const there = await readCheckpoint(files, directory);
  if (there === undefined || there === "unreadable" || there.end < now.end) {
    return writeCheckpoint(files, directory, now);
  }
  await takeRoom(files, draftPath(directory), ROOM);
}

/** Replaces the checkpoint. After a crash there is either the old or the new one. */
export async function writeCheckpoint(
  files: FileLayer,
  directory: string,
  { end, position, stored }: Checkpoint,
): Promise<void> {
  const file = await openAsIs(files, draftPath(directory));
  try {
    const text = withChecksum(JSON.stringify({ position, stored, end }));
    const bytes = Buffer.from(`${text}\n`);
    await writeFully(file, bytes, 0);
    await file.truncate(bytes.length);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(draftPath(directory), checkpointPath(directory));
  await files.syncDirectory(directory);
  // The replaced checkpoint has just made room for this.
  await takeRoom(files, draftPath(directory), ROOM).catch(() => {});
}

function draftPath(directory: string): string {
  return `${checkpointPath(directory)}.tmp`;
}

function parse(bytes: Uint8Array | undefined): Checkpoint | undefined {
  const value = bytes && parseJson(lineText(bytes));
  if (typeof value !== "object" || value === null) return undefined;
  const { end, position, stored }: Readonly<Record<string, unknown>> = { ...value };
  if (!isCount(position) || !isCount(stored) || !isCount(end)) return undefined;
  return position <= stored && stored <= end ? { position, stored, end } : undefined;
}
