import { readdir, readFile } from "node:fs/promises";

/** The kernel's clock ticks a second, as Linux tells CPU times. */
const TICKS = 100;
/** Fields of `/proc/PID/stat` behind the name: parent, time in user mode and in the kernel, that of ended children. */
const [PARENT, USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM] = [1, 11, 12, 13, 14];

/** CPU time that a process has taken, in s; 0 where it is not there. */
export async function cpuSeconds(pid: number | undefined): Promise<number> {
  return secondsOf(await statOf(`/proc/${pid}/stat`));
}

/** The same of its first thread alone: in Node, that which runs JavaScript. */
export async function mainThreadSeconds(pid: number | undefined): Promise<number> {
  return secondsOf(await statOf(`/proc/${pid}/task/${pid}/stat`));
}

/** CPU time of the processes in whose command line the text is, and of all below them, in s. */
export async function treeSeconds(text: string): Promise<number> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const said = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  const stats = await Promise.all(pids.map((pid) => statOf(`/proc/${pid}/stat`)));
  const found = new Set(pids.filter((_, at) => said[at]?.includes(text)));
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [at, pid] of pids.entries()) {
      if (found.has(stats[at]?.[PARENT] ?? 0)) found.add(pid);
    }
  }
  return stats.reduce((sum, stat, at) => {
    if (!found.has(pids[at] ?? 0)) return sum;
    const ended = ((stat[CHILDREN_USER] ?? 0) + (stat[CHILDREN_SYSTEM] ?? 0)) / TICKS;
    return sum + secondsOf(stat) + ended;
  }, 0);
}

/** CPU time of all processes of the machine since its start, in s. */
export async function machineSeconds(): Promise<number> {
  const [first = ""] = (await readFile("/proc/stat", "utf8")).split("\n");
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = first
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupts + soft) / TICKS;
}

async function statOf(path: string): Promise<readonly number[]> {
  const stat = await readFile(path, "utf8").catch(() => "");
  // The name in parentheses may have blanks in it.
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

function secondsOf(stat: readonly number[]): number {
  return ((stat[USER] ?? 0) + (stat[SYSTEM] ?? 0)) / TICKS;
}
