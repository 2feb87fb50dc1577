import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { bundle } from "./bundle.ts";

export interface Moment {
  /** Whether the writer has come far enough; asked after each line that it says. */
  readonly isDue: (said: readonly string[]) => boolean;
  /** It has so many ms more. */
  readonly delay: number;
}

/** A program that writes a log, and says on its output how far it is: to be killed on the way. */
export class KillableWriter {
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(program: string) {
    this.#program = program;
  }

  /** @param folder where it is bundled to. */
  static async make(source: string, folder: string): Promise<KillableWriter> {
    return new KillableWriter(await bundle(source, folder));
  }

  /** Runs it and kills it; what it said. */
  async runAndKill(args: readonly string[], { delay, isDue }: Moment): Promise<readonly string[]> {
    const child = spawn(process.execPath, [this.#program, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const errors: Buffer[] = [];
    child.stderr.on("data", (part: Buffer) => errors.push(part));
    const said: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    createInterface({ input: child.stdout }).on("line", (line) => {
      said.push(line);
      if (isDue(said)) timer ??= setTimeout(() => child.kill("SIGKILL"), delay);
    });
    this.#running.add(child);
    const [, signal] = await once(child, "close");
    this.#running.delete(child);
    clearTimeout(timer);
    expect(Buffer.concat(errors).toString("utf8")).toBe("");
    expect(signal).toBe("SIGKILL");
    return said;
  }

  /** Ends what is left after a failed expectation. */
  end(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }
}
