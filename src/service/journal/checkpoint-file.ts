import { join } from "node:path";
import { type FileLayer, lineText, openAsIs, takeRoom, writeFully } from "../../audit/door.ts";
import { isCount, parseJson } from "../../events/door.ts";
import { checked, withChecksum } from "./record.ts";

/** How far the lines have been worked on. */
export interface Checkpoint {
  /** The lowest offset that is still needed. */
  readonly position: number;
  /** What came of all lines below it is stored, though some are needed again; never below `position`. */
  readonly stored: number;
  /** The journal's end then: all below it was on the disk, and what is missing below it is damage. */
  readonly end: number;
}

/** Bytes that are looked at; the file has far fewer. */
const MOST = 4096;
/** What holds the room: more than a checkpoint takes. */
const ROOM = Buffer.alloc(256, " ");

export function checkpointPath(directory: string): string {
  return join(directory, "checkpoint");
}

/** @returns `undefined` when there is none; `"unreadable"` when it is not what was written. */
export async function readCheckpoint(
  files: FileLayer,
  directory: string,
): Promise<Checkpoint | undefined | "unreadable"> {
  const file = await files.open(checkpointPath(directory), "read");
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(MOST);
    const came = await file.read(buffer, 0);
    return parse(checked(buffer.subarray(0, Math.max(0, came - 1)))) ?? "unreadable";
  } finally {
    await file.close();
  }
}

/**
 * Takes the room on the disk that checkpoints will need. On a disk that is full by then none could be
 * written otherwise, the files below it not be removed, and the disk would stay full.
 *
 * @param now written where another one, or none, is there: only one that replaces another makes room
 *   for the next.
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

/** Replaces the checkpoint: after a crash there is the old one or the new one. */
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
  // The one that was replaced has just made room for it.
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
