import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { atExit } from "../at-exit.ts";
import type { Trial } from "../trial.ts";
import type { ServiceOptions } from "./service.ts";

/** A disk that can be filled, and freed again. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves no byte free. */
  fill(): void;
  /** Gives back what {@link fill} took. */
  free(): void;
  /** How a service is started so that it meets the end of the disk. */
  options(): Pick<ServiceOptions, "wrap">;
}

const DISK_BYTES = 4 * 1024 * 1024;
/** Of a file, in blocks of 512 bytes, or of 1,024 in some shells. */
const LIMIT_BLOCKS = 128;
const BALLAST = "ballast";

/** Whether a file system of its own can be had: root on Linux, and mounting is allowed. */
export const HAS_TMPFS = process.platform === "linux" && process.getuid?.() === 0 && canMount();

/** A disk of 4 MiB; where none can be mounted, a limit on the size of files. */
export async function smallDisk(trial: Trial): Promise<SmallDisk> {
  const folder = join(await trial.folder(), "disk");
  await mkdir(folder);
  return HAS_TMPFS ? mounted(trial, folder) : limited(folder);
}

/** What stands in for a disk on this machine. */
export const DISK = HAS_TMPFS ? "tmpfs of 4 MiB" : "file-size limit";

function mounted(trial: Trial, folder: string): SmallDisk {
  mount(folder, DISK_BYTES);
  const unmount = () => void spawnSync("umount", ["-l", folder]);
  const forget = atExit(unmount);
  trial.atEnd(async () => {
    // What is on it is wanted where something was found.
    const isWanted = (path: string) => basename(path) !== BALLAST && !/^sock-/.test(basename(path));
    if (trial.harmed) await cp(folder, `${folder}-copy`, { recursive: true, filter: isWanted });
    unmount();
    forget();
  });
  const ballast = join(folder, BALLAST);
  return {
    folder,
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast, { force: true }),
    options: () => ({}),
  };
}

function limited(folder: string): SmallDisk {
  let full = false;
  const wrap = (command: readonly string[]) => [
    "sh",
    "-c",
    `ulimit -f ${LIMIT_BLOCKS}; exec "$@"`,
    "sh",
    ...command,
  ];
  return {
    folder,
    fill: () => {
      full = true;
    },
    free: () => {
      full = false;
    },
    options: () => (full ? { wrap } : {}),
  };
}

/** Down to the last byte: large pieces first. */
function fillUp(path: string): void {
  const file = openSync(path, "a");
  try {
    for (const size of [65_536, 4_096, 1]) {
      while (takes(file, size));
    }
  } finally {
    closeSync(file);
  }
}

function takes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size;
  } catch {
    return false;
  }
}

function canMount(): boolean {
  return spawnSync("unshare", ["--mount", "true"]).status === 0;
}

function mount(folder: string, bytes: number): void {
  const args = ["-t", "tmpfs", "-o", `size=${bytes},mode=700`, "tmpfs", folder];
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}
