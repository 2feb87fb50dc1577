import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "tsdown";

/** How a process ended, and what it said. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A program of this folder, built so that Node can run it. */
export class Program {
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async build(file: string): Promise<Program> {
    // Beside the packages, so that the program finds them as an application would.
    const packages = new URL("../../../node_modules/", import.meta.url);
    const folder = await mkdtemp(join(packages.pathname, ".entelix-otel-test-"));
    await build({
      config: false,
      entry: { program: new URL(file, import.meta.url).pathname },
      outDir: folder,
      format: "esm",
      platform: "node",
      dts: false,
      deps: { neverBundle: [/^@opentelemetry\//] },
      inputOptions: { resolve: { mainFields: ["module", "main"] } },
      outExtensions: () => ({ js: ".mjs" }),
      logLevel: "error",
    });
    return new Program(folder);
  }

  /**
   * Runs it to its end, with no `OTEL_*` variables but those given.
   *
   * @param signals sent in turn, each when the program has printed one more line `ready`.
   */
  async run(
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
    signals: readonly NodeJS.Signals[] = [],
  ): Promise<Ending> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
    const child = spawn(process.execPath, [join(this.#folder, "program.mjs"), ...args], {
      env: { ...Object.fromEntries(inherited), ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    let output = "";
    let sent = 0;
    const read = (chunk: Buffer) => {
      output += chunk.toString("utf8");
      const ready = output.split("\n").filter((line) => line === "ready").length;
      while (sent < Math.min(ready, signals.length)) child.kill(signals[sent++]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        this.#running.delete(child);
        resolve({ code, signal, output });
      });
    });
  }

  /** Also ends what a test that failed has left running. */
  remove(): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    return rm(this.#folder, { recursive: true, force: true });
  }
}
