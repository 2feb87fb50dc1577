import type { FileLayer, LogFile } from "./file-layer.ts";
import { writeFully } from "./write-fully.ts";

/** Opens a file as it is, or a new one: made anew it would give up its room first. */
export async function openAsIs(files: FileLayer, path: string): Promise<LogFile> {
  return (await files.open(path, "update")) ?? files.open(path, "create");
}

/**
 * Fills a file, so that what is written over it later needs no room on the disk.
 *
 * @param durable whether the room is to outlast a power cut.
 */
export async function takeRoom(
  files: FileLayer,
  path: string,
  filling: Uint8Array,
  durable = false,
): Promise<void> {
  const file = await openAsIs(files, path);
  try {
    await writeFully(file, filling, 0);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
}
