import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { keep } from "./keeper.ts";
import { until } from "./until.ts";

export interface ServerOptions {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What it says is appended there. */
  readonly log: string;
  /** Resolves when it is ready, rejects or answers `undefined` while it is not. */
  readonly ready: () => Promise<unknown>;
  /** How long it may take until it is ready, in ms. Default 60,000. */
  readonly startMs?: number;
}

const START_MS = 60_000;
/** How long it may take to end after SIGTERM, in ms. */
const GRACE_MS = 15_000;
/** So much of its log is shown when it does not start. */
const TAIL = 4_000;

/** A server of the stack, started and stopped by its pid. */
export class ServerProcess {
  readonly options: ServerOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("not started");

  constructor(options: ServerOptions) {
    this.options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws Error with the end of the log, when it ends or is not ready in time. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.options.name} runs already`);
    const { name, program, args, env, cwd, log, ready, startMs = START_MS } = this.options;
    const out = createWriteStream(log, { flags: "a" });
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    keep(child);
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    let gone: string | undefined;
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        gone ??= how;
        this.#child = undefined;
        out.end(() => resolve(how));
      };
      child.once("error", (error) => end(String(error)));
      child.once("close", (status, signal) => end(`ended with ${signal ?? `status ${status}`}`));
    });
    try {
      const state = await until(
        `${name} ready`,
        async () => (gone === undefined ? ready().then(() => "ready") : "gone"),
        { timeoutMs: startMs },
      );
      if (state === "gone") throw new Error(`${name} ${gone}`);
    } catch (error) {
      await this.kill();
      const said = (await readFile(log, "utf8")).slice(-TAIL);
      throw new Error(`${String(error)}\n--- the end of ${log}:\n${said}`, { cause: error });
    }
  }

  /** Ends it as an operator would: SIGTERM, and SIGKILL when that takes too long. */
  async stop(): Promise<void> {
    this.#child?.kill("SIGTERM");
    const late = new AbortController();
    const how = await Promise.race([
      this.#ended,
      sleep(GRACE_MS, "late", { signal: late.signal }).catch(() => "ended"),
    ]);
    late.abort();
    if (how === "late") await this.kill();
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }
}
