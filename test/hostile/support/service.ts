import { type ChildProcess, spawn } from "node:child_process";
import { MAIN } from "../../cli/support/command.ts";
import { keep } from "../../e2e/support/keeper.ts";
import { bounded } from "../bounded.ts";
import type { Trial } from "../trial.ts";

export interface ServiceOptions {
  /** Beside `serve --journal DIR --listen 127.0.0.1:PORT`. */
  readonly args?: readonly string[];
  /** Default 0: a free port. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Put in front of the command: a shell that sets limits, say. */
  readonly wrap?: (command: readonly string[]) => readonly string[];
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** All that it wrote to both outputs. */
  readonly said: string;
}

/** A start, and an end after SIGTERM, that take longer count as hung, in ms. */
const PATIENCE_MS = 45_000;

/** `entelix-otel serve` as a user starts it, on a journal; ended by its own process id. */
export class Service {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #listening: Promise<string | undefined>;
  #said = "";
  #over = false;

  private constructor(journal: string, options: ServiceOptions) {
    const { args = [], env = {}, port = 0, wrap = (command) => command } = options;
    const listen = `127.0.0.1:${port}`;
    const [program = "", ...rest] = wrap([
      process.execPath,
      MAIN,
      "serve",
      "--journal",
      journal,
      "--listen",
      listen,
      ...args,
    ]);
    const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
    this.#child = spawn(program, rest, {
      env: { PATH, HOME, TMPDIR, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    keep(this.#child);
    let heard: (url: string | undefined) => void = () => {};
    this.#listening = new Promise((resolve) => {
      heard = resolve;
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#said += text;
        const [, url] = /^Listening on (http:\/\/\S+)/m.exec(this.#said) ?? [];
        if (url !== undefined) heard(url);
      });
    }
    this.#ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#over = true;
        heard(undefined);
        resolve({ code, signal, said: this.#said });
      };
      this.#child.once("error", (error) => {
        this.#said += String(error);
        end(null, null);
      });
      this.#child.once("close", end);
    });
  }

  /** Starts it, whatever comes of that; it is killed when the trial is over. */
  static spawn(trial: Pick<Trial, "atEnd">, journal: string, options: ServiceOptions = {}) {
    const service = new Service(journal, options);
    trial.atEnd(() => service.kill());
    return service;
  }

  /** @throws Error where it does not come to listen. */
  static async start(
    trial: Pick<Trial, "atEnd">,
    journal: string,
    options: ServiceOptions = {},
  ): Promise<{ readonly service: Service; readonly url: string }> {
    const service = Service.spawn(trial, journal, options);
    const url = await service.listening();
    if (url !== undefined) return { service, url };
    const { code, said, signal } = await service.ended();
    throw new Error(`expected serve to start, it ended with ${signal ?? code}: ${said}`);
  }

  /** All that it wrote so far. */
  get said(): string {
    return this.#said;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Its URL once it listens; `undefined` where it ended before. @throws Hung */
  listening(): Promise<string | undefined> {
    return bounded(this.#listening, PATIENCE_MS, `the start of serve, which said: ${this.#said}`);
  }

  /** @throws Hung */
  ended(): Promise<Ended> {
    return bounded(this.#ended, PATIENCE_MS, `the end of serve, which said: ${this.#said}`);
  }

  /** `kill -9`. */
  kill(): Promise<Ended> {
    return this.#signal("SIGKILL");
  }

  /** SIGTERM; resolves when it has ended. @throws Hung */
  stop(): Promise<Ended> {
    return this.#signal("SIGTERM");
  }

  #signal(signal: NodeJS.Signals): Promise<Ended> {
    if (!this.#over) this.#child.kill(signal);
    return this.ended();
  }
}
