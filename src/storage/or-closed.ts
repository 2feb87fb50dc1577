import type { LogFile } from "./file-layer.ts";

/** What `work` on an open file gives; where it fails, the file is closed. */
export async function orClosed<T>(file: LogFile, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}
