import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { areasOf } from "./profile-areas.ts";
import { until } from "./until.ts";

const PROGRAM = new URL("../programs/profile-on-signal.mjs", import.meta.url);
/** Until a program has got a signal, in ms. */
const SIGNAL_MS = 500;

/** A CPU profile of a Node program for as long as it is of interest, summed by area. */
export class CpuProfile {
  readonly #file: string;

  /** @param place where the profile is written, without its ending. */
  constructor(place: string) {
    this.#file = `${place}.cpuprofile`;
  }

  /** What the program has to be started with. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PROGRAM.href}`, ENTELIX_PROFILE: this.#file };
  }

  async begin(pid: number | undefined): Promise<void> {
    signal(pid);
    await sleep(SIGNAL_MS);
  }

  /**
   * @param cpu the time of the process, and of its main thread alone, in s.
   * @param count of what the time is told for one.
   * @returns a table.
   */
  async end(pid: number | undefined, cpu: CpuOfProcess, count: number): Promise<string> {
    signal(pid);
    const written = await until("the profile is written", () => readFile(this.#file, "utf8"));
    const micros = (seconds: number) => ((seconds / count) * 1e6).toFixed(1);
    const line = (share: string, each: string, name: string, most = "") =>
      `${share.padStart(7)} ${each.padStart(7)}  ${name.padEnd(44)}  ${most}`.trimEnd();
    const areas = areasOf(JSON.parse(written)).map(({ area, most, share }) => {
      const functions = most.map(([name, part]) => `${name} ${percent(part)}`).join(", ");
      return line(percent(share), micros(share * cpu.mainThreads), area, functions);
    });
    return [
      line("share", "µs each", "CPU by area", "most in"),
      ...areas,
      line("", micros(cpu.mainThreads), "the main thread"),
      line("", micros(cpu.workers - cpu.mainThreads), "others: compiler, collector, files"),
    ].join("\n");
  }
}

export interface CpuOfProcess {
  readonly workers: number;
  readonly mainThreads: number;
}

function signal(pid: number | undefined): void {
  if (pid === undefined) throw new Error("the program does not run");
  process.kill(pid, "SIGUSR2");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
