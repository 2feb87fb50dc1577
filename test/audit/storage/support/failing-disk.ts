import type {
  LogFile,
  OpenMode,
  RemovingFileLayer,
} from "../../../../src/audit/storage/file-layer.ts";

/** What may go wrong, and when. */
export interface DiskFaults {
  /**
   * Bytes that still fit; a write beyond takes what fits, the next one fails with ENOSPC. What is written
   * over needs no room.
   */
  room: number;
  /** Whether what is cut off gives its bytes back to the room. Default: it does not. */
  cutsGiveRoom: boolean;
  /** Syncs that fail from now on. */
  failingSyncs: number;
  /** Files that cannot be cut from now on. */
  failingTruncates: number;
  /** Files that cannot be created from now on. */
  failingCreates: number;
  /** Reads that fail from now on. */
  failingReads: number;
}

/** Passes everything on to another layer, but for the faults. */
export function failingDisk(under: RemovingFileLayer): {
  layer: RemovingFileLayer;
  faults: DiskFaults;
} {
  const faults: DiskFaults = {
    room: Number.POSITIVE_INFINITY,
    cutsGiveRoom: false,
    failingSyncs: 0,
    failingTruncates: 0,
    failingCreates: 0,
    failingReads: 0,
  };
  function wrap(file: LogFile): LogFile {
    return {
      async read(into, position) {
        if (faults.failingReads > 0) {
          faults.failingReads -= 1;
          throw systemError("EIO");
        }
        return file.read(into, position);
      },
      size: () => file.size(),
      close: () => file.close(),
      async write(bytes, position) {
        const over = Math.max(0, (await file.size()) - position);
        const taken = Math.min(bytes.byteLength, over + faults.room);
        if (taken <= 0) throw systemError("ENOSPC");
        const written = await file.write(bytes.subarray(0, taken), position);
        faults.room -= Math.max(0, written - over);
        return written;
      },
      async sync() {
        if (faults.failingSyncs > 0) {
          faults.failingSyncs -= 1;
          throw systemError("EIO");
        }
        return file.sync();
      },
      async truncate(size) {
        if (faults.failingTruncates > 0) {
          faults.failingTruncates -= 1;
          throw systemError("EIO");
        }
        if (faults.cutsGiveRoom) faults.room += Math.max(0, (await file.size()) - size);
        return file.truncate(size);
      },
    };
  }
  async function open(path: string, mode: "create"): Promise<LogFile>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
  async function open(path: string, mode: OpenMode): Promise<LogFile | undefined> {
    if (mode === "create" && faults.failingCreates > 0) {
      faults.failingCreates -= 1;
      throw systemError("EMFILE");
    }
    const file = await under.open(path, mode);
    return file === undefined ? undefined : wrap(file);
  }
  return { layer: { ...under, open }, faults };
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: from the test`), { code });
}
