import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A folder that only its owner can read. It is removed at the end, also by a signal. */
export class TemporaryFolder {
  readonly path: string;
  readonly #remove = () => rmSync(this.path, { recursive: true, force: true });
  readonly #onSignal = (signal: NodeJS.Signals) => {
    this.remove();
    // Nobody else ends the process.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };

  private constructor(path: string) {
    this.path = path;
    process.on("exit", this.#remove);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), "entelix-otel-view-")));
  }

  remove(): void {
    process.off("exit", this.#remove);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    this.#remove();
  }
}
