import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { namedPorts } from "./free-ports.ts";
import { fetchText } from "./http.ts";
import { keepFolder } from "./keeper.ts";
import { ServerProcess } from "./server-process.ts";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.mjs", import.meta.url));

export interface ServeOptions {
  /** Beside `--journal` and `--listen`. */
  readonly args?: readonly string[];
  /** Contents of the tokens file; without them there is none. */
  readonly tokens?: string;
  /** Options of Node: the size of its heap, say. */
  readonly node?: readonly string[];
}

/** `entelix-otel serve`, built, on a port and in a folder of its own that stay when it is restarted. */
export class ServeProcess {
  readonly folder: string;
  readonly url: string;
  readonly #process: ServerProcess;
  readonly #forget: () => void;

  private constructor(folder: string, port: number, options: ServeOptions) {
    const { args = [], node = [] } = options;
    this.folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.#forget = keepFolder(folder);
    this.#process = new ServerProcess({
      name: "serve",
      program: process.execPath,
      args: [
        ...node,
        MAIN,
        "serve",
        "--journal",
        this.at("journal"),
        "--listen",
        `127.0.0.1:${port}`,
        ...args,
      ],
      cwd: folder,
      log: this.at("log"),
      ready: () => fetchText(`${this.url}/healthz`),
    });
  }

  static async start(options: ServeOptions | ((folder: string) => Promise<ServeOptions>) = {}) {
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-serve-"));
    const port = (await namedPorts(["serve"]))("serve");
    const given = typeof options === "function" ? await options(folder) : options;
    const serve = new ServeProcess(folder, port, given);
    await serve.#process.start();
    return serve;
  }

  at(...names: string[]): string {
    return join(this.folder, ...names);
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error("serve does not run");
    return pid;
  }

  /** What it said since its first start. */
  log(): Promise<string> {
    return readFile(this.at("log"), "utf8");
  }

  /** `kill -9`. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** `kill -9`, and started again at once. */
  async crash(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** SIGTERM; resolves when it has ended. */
  stop(): Promise<void> {
    return this.#process.stop();
  }

  start(): Promise<void> {
    return this.#process.start();
  }

  /** Memory of the process (RSS), in bytes. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.pid}/status`, "utf8");
    const [, kib = ""] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    return Number(kib) * 1024;
  }

  /** The sum of a metric over its labels. */
  async metric(name: string): Promise<number> {
    const text = await fetchText(`${this.url}/metrics`);
    const values = text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
    if (values.length === 0) throw new Error(`there is no metric ${name}`);
    return values.reduce((sum, value) => sum + value, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
    await rm(this.folder, { recursive: true, force: true });
    this.#forget();
  }
}
