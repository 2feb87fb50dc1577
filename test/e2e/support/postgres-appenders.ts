import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import type { RowAnchor } from "../../../src/entries/audit.ts";
import { keep } from "./keeper.ts";
import { until } from "./until.ts";

/** Bundles the program of the appenders, with the driver, so that it runs anywhere. */
export async function bundleAppender(folder: string): Promise<string> {
  const built = await rolldown({
    input: join(import.meta.dirname, "postgres-appender.ts"),
    platform: "node",
    logLevel: "silent",
    // Natively compiled, absent here, and only wanted by who asks for it.
    external: ["pg-native"],
  });
  const file = join(folder, "appender.mjs");
  await built.write({ file, format: "esm", codeSplitting: false });
  await built.close();
  return file;
}

export interface AppenderOptions {
  readonly program: string;
  readonly url: string;
  readonly schema: string;
  /** Begins each event id. */
  readonly name: string;
  readonly rows: number;
  readonly thread: string;
  /** It also archives each row. Default false. */
  readonly archives?: boolean;
}

/** A process that appends to one thread, and can be killed. */
export class Appender {
  /** What it was told is stored, by event id. */
  readonly stored = new Map<string, RowAnchor>();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #isOpen = false;
  #stderr = "";

  constructor({ archives, name, program, rows, schema, thread, url }: AppenderOptions) {
    const args = [program, url, schema, name, String(rows), thread];
    if (archives === true) args.push("archives");
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    keep(child);
    this.#child = child;
    this.#ended = once(child, "close");
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString("utf8");
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "open") this.#isOpen = true;
      const [event = "", ordinal = "", hash = ""] = line.split(" ");
      if (hash !== "") this.stored.set(event, { ordinal: Number(ordinal), hash });
    });
  }

  /** Resolves when it is connected. */
  async open(): Promise<void> {
    await until("the appender is open", () => this.#isOpen || undefined, { everyMs: 20 });
  }

  /** Resolves when it has stored all. @throws Error with what it said when it failed. */
  async ended(): Promise<void> {
    await this.#ended;
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== 0) {
      throw new Error(`appender ended with ${signalCode ?? exitCode}: ${this.#stderr}`);
    }
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
