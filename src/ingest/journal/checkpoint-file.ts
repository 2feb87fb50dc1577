import { join } from "node:path";
import { isCount } from "../../events/whole-number.ts";
import type { FileLayer } from "../../storage/file-layer.ts";
import { lineText } from "../../storage/file-lines.ts";
import { writeFully } from "../../storage/write-fully.ts";
import { checked, withChecksum } from "./checksum.ts";

/** How far the lines have been worked on. */
export interface Checkpoint {
  /** The lowest offset that is still needed. */
  readonly position: number;
  /** What came of all lines below it is stored, though some are needed again; never below `position`. */
  readonly stored: number;
  /** The journal's end then: all below it was on the disk. */
  readonly end: number;
}

/** Bytes that are looked at; the file has far fewer. */
const MOST = 4096;

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

/** Replaces the checkpoint: after a crash there is the old one or the new one. */
export async function writeCheckpoint(
  files: FileLayer,
  directory: string,
  { end, position, stored }: Checkpoint,
): Promise<void> {
  const draft = `${checkpointPath(directory)}.tmp`;
  const file = await files.open(draft, "create");
  try {
    const text = withChecksum(JSON.stringify({ position, stored, end }));
    await writeFully(file, Buffer.from(`${text}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(draft, checkpointPath(directory));
  await files.syncDirectory(directory);
}

function parse(bytes: Uint8Array | undefined): Checkpoint | undefined {
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(lineText(bytes));
    if (typeof value !== "object" || value === null) return undefined;
    const { end, position, stored }: Readonly<Record<string, unknown>> = { ...value };
    if (!isCount(position) || !isCount(stored) || !isCount(end)) return undefined;
    return position <= stored && stored <= end ? { position, stored, end } : undefined;
  } catch {
    return undefined;
  }
}
