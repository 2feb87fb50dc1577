import type { FileLayer } from "../../../src/audit/storage/file-layer.ts";
import { writeFully } from "../../../src/audit/storage/file-writes.ts";

/** A file's bytes. */
export async function bytesOf(files: FileLayer, path: string): Promise<Buffer> {
  const file = await files.open(path, "read");
  if (file === undefined) throw new Error(`${path}: no such file`);
  try {
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Makes a file of these bytes, in place of the one that was there. */
export async function writeBytes(files: FileLayer, path: string, bytes: Buffer): Promise<void> {
  const file = await files.open(path, "create");
  try {
    await writeFully(file, bytes, 0);
  } finally {
    await file.close();
  }
}
