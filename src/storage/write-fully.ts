import type { LogFile } from "./file-layer.ts";

/**
 * Writes all the bytes.
 *
 * @returns the offset behind them.
 * @throws the system's error, or one with the code `EIO` when the file takes no more bytes.
 */
export async function writeFully(
  file: LogFile,
  bytes: Uint8Array,
  position: number,
): Promise<number> {
  let written = 0;
  while (written < bytes.byteLength) {
    const taken = await file.write(bytes.subarray(written), position + written);
    if (taken <= 0) {
      const left = bytes.byteLength - written;
      throw Object.assign(new Error(`EIO: short write, ${left} bytes left`), { code: "EIO" });
    }
    written += taken;
  }
  return position + written;
}
