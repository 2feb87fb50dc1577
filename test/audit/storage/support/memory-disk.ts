import type {
  FileLayer,
  LogFile,
  OpenMode,
  RemovingFileLayer,
} from "../../../../src/audit/storage/file-layer.ts";

/** A file: what programs see of it, and what would be left of it without power. */
class Inode {
  bytes: Buffer = Buffer.alloc(0);
  synced: Buffer = Buffer.alloc(0);
}

/** A change of names that is not on the disk yet. */
interface NameChange {
  readonly folders: readonly string[];
  apply(names: Map<string, Inode>): unknown;
}

/** The power went: every access from here on fails. */
export class PowerLoss extends Error {}

/** Numbers from 0 below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A disk in memory that forgets what was not synced when the power goes: bytes of files (keeping a
 * random prefix of them, sometimes followed by zeros; where `holes` says so also all but a part in the
 * middle) and names of files.
 */
export class MemoryDisk {
  readonly #random: () => number;
  #names = new Map<string, Inode>();
  #durable = new Map<string, Inode>();
  #changes: NameChange[] = [];
  #left = Number.POSITIVE_INFINITY;
  #boot = 0;
  #locked = false;
  readonly #holes: boolean;

  constructor(random: () => number, { holes = false } = {}) {
    this.#random = random;
    this.#holes = holes;
  }

  /** The disk as programs started now see it; after a restart those of before see nothing any more. */
  layer(): RemovingFileLayer {
    const boot = this.#boot;
    const access = (part?: () => void) => {
      if (boot !== this.#boot) throw new PowerLoss("this program died");
      this.#access(part);
    };
    const open = this.#opener(access);
    return {
      open,
      makeDirectory: async () => access(),
      list: async (directory) => {
        access();
        return this.#list(directory);
      },
      rename: async (from, to) => {
        access();
        this.#rename(from, to);
      },
      remove: async (path) => {
        access();
        this.#change([folderOf(path)], (names) => names.delete(path));
      },
      syncDirectory: async (path) => {
        access();
        this.#syncDirectory(path);
      },
      lock: async () => {
        access();
        if (this.#locked) throw new Error("locked");
        this.#locked = true;
        return {
          release: async () => {
            if (boot === this.#boot) this.#locked = false;
          },
        };
      },
      lockHolder: async () => (this.#locked ? "alive" : "none"),
    };
  }

  /** The power goes at the n-th access from now. */
  losePowerAfter(accesses: number): void {
    this.#left = accesses;
  }

  get names(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** The programs die; the system has what they wrote. Nobody holds the lock. */
  kill(): void {
    this.#boot += 1;
    this.#locked = false;
  }

  /** Power is back: what the disk has kept. Nobody holds its lock. */
  restart(): void {
    const names = new Map(this.#durable);
    for (const change of this.#changes) if (this.#random() < 0.5) change.apply(names);
    for (const inode of new Set(names.values())) {
      inode.bytes = this.#kept(inode);
      inode.synced = Buffer.from(inode.bytes);
    }
    this.#names = names;
    this.#durable = new Map(names);
    this.#changes = [];
    this.#left = Number.POSITIVE_INFINITY;
    this.#boot += 1;
    this.#locked = false;
  }

  #kept({ bytes, synced }: Inode): Buffer {
    let same = 0;
    while (same < bytes.length && same < synced.length && bytes[same] === synced[same]) same += 1;
    if (same < synced.length && this.#random() < 0.5) return Buffer.from(synced);
    if (this.#holes && this.#random() < 0.8) {
      const holed = Buffer.from(bytes);
      const from = same + Math.floor(this.#random() * (bytes.length - same + 1));
      const to = from + Math.floor((this.#random() * (bytes.length - from + 1)) / 2);
      holed.fill(0, from, to);
      holed.set(synced.subarray(from, to), from);
      return holed;
    }
    const kept = same + Math.floor(this.#random() * (bytes.length - same + 1));
    const zeros = this.#random() < 0.2 ? bytes.length - kept : 0;
    return Buffer.concat([bytes.subarray(0, kept), Buffer.alloc(zeros)]);
  }

  /** Counts an access; the last one may do a part of its work first. */
  #access(part?: () => void): void {
    if (this.#left <= 0) throw new PowerLoss("no power");
    this.#left -= 1;
    if (this.#left > 0) return;
    part?.();
    throw new PowerLoss("the power went");
  }

  #list(directory: string): readonly string[] {
    const prefix = `${directory}/`;
    const below = [...this.#names.keys()].filter((path) => path.startsWith(prefix));
    return below.map((path) => path.slice(prefix.length)).filter((name) => !name.includes("/"));
  }

  #change(folders: readonly string[], apply: (names: Map<string, Inode>) => unknown): void {
    apply(this.#names);
    this.#changes.push({ folders, apply });
  }

  #rename(from: string, to: string): void {
    if (!this.#names.has(from))
      throw Object.assign(new Error(`ENOENT ${from}`), { code: "ENOENT" });
    this.#change([folderOf(from), folderOf(to)], (names) => {
      const inode = names.get(from);
      if (inode === undefined) return;
      names.delete(from);
      names.set(to, inode);
    });
  }

  #syncDirectory(path: string): void {
    for (const change of this.#changes) {
      if (change.folders.includes(path)) change.apply(this.#durable);
    }
    this.#changes = this.#changes.filter(({ folders }) => !folders.includes(path));
  }

  #opener(access: Access): FileLayer["open"] {
    const openFile = (path: string, mode: OpenMode): LogFile | undefined => {
      access();
      const there = this.#names.get(path);
      if (mode !== "create") return there === undefined ? undefined : this.#file(there, access);
      if (there === undefined) return this.#file(this.#make(path), access);
      there.bytes = Buffer.alloc(0);
      return this.#file(there, access);
    };
    async function open(path: string, mode: "create"): Promise<LogFile>;
    async function open(path: string, mode: OpenMode): Promise<LogFile | undefined>;
    async function open(path: string, mode: OpenMode): Promise<LogFile | undefined> {
      return openFile(path, mode);
    }
    return open;
  }

  #make(path: string): Inode {
    const made = new Inode();
    this.#change([folderOf(path)], (names) => names.set(path, made));
    return made;
  }

  #file(inode: Inode, access: Access): LogFile {
    return {
      read: async (into, position) => {
        access();
        const part = inode.bytes.subarray(position, position + into.byteLength);
        into.set(part);
        return part.length;
      },
      write: async (bytes, position) => {
        access(() => {
          const part = Math.floor(this.#random() * (bytes.byteLength + 1));
          put(inode, bytes.subarray(0, part), position);
        });
        // Now and then the system takes only a part.
        const taken = this.#random() < 0.1 ? Math.ceil(bytes.byteLength / 2) : bytes.byteLength;
        put(inode, bytes.subarray(0, taken), position);
        return taken;
      },
      sync: async () => {
        access();
        inode.synced = Buffer.from(inode.bytes);
      },
      truncate: async (size) => {
        access();
        inode.bytes = Buffer.from(inode.bytes.subarray(0, size));
      },
      size: async () => {
        access();
        return inode.bytes.length;
      },
      close: async () => {},
    };
  }
}

/** Counts an access; the last one before the power goes may do a part of its work first. */
type Access = (part?: () => void) => void;

function put(inode: Inode, bytes: Uint8Array, position: number): void {
  const size = Math.max(inode.bytes.length, position + bytes.byteLength);
  const next = Buffer.alloc(size);
  inode.bytes.copy(next);
  next.set(bytes, position);
  inode.bytes = next;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** The bytes of a file; `undefined` if there is none. */
export async function sizeOf(files: FileLayer, path: string): Promise<number | undefined> {
  const file = await files.open(path, "read");
  const size = await file?.size();
  await file?.close();
  return size;
}
