import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { field, list, text } from "./json-shape.ts";
import { keep } from "./keeper.ts";
import { type Patience, until } from "./until.ts";

const CRATE = fileURLToPath(new URL("../../../examples/rust-sink/", import.meta.url));
const INSTALL = fileURLToPath(new URL("../../../scripts/servers/install.mjs", import.meta.url));

/** `examples/agent.rs` of the crate in `examples/rust-sink`; compiled where it is absent. */
export async function rustAgentProgram(): Promise<string> {
  const running = promisify(execFile)(process.execPath, [INSTALL, "rust-agent"]);
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running;
  const [, , ...path] = stdout.trim().split(" ");
  return path.join(" ");
}

/**
 * The crate's own tests, by cargo.
 *
 * @param program from {@link rustAgentProgram}: what was compiled for it is used again.
 * @returns how many passed.
 * @throws Error with what cargo said, when one fails.
 */
export async function rustSinkTests(program: string): Promise<number> {
  const { stdout } = await promisify(execFile)("cargo", ["test", "--locked", "--jobs", "2"], {
    cwd: CRATE,
    env: {
      ...process.env,
      CARGO_TARGET_DIR: join(dirname(dirname(program)), "cargo-target"),
      CARGO_TERM_COLOR: "never",
    },
  });
  const results = [...stdout.matchAll(/^test result: ok\. (\d+) passed; 0 failed; 0 ignored/gm)];
  return results.reduce((sum, [, passed]) => sum + Number(passed), 0);
}

/** A run that the program made. */
export interface RustRun {
  readonly scenario: string;
  /** The root's first, then those of its sub-agents. */
  readonly runIds: readonly string[];
  readonly events: number;
  /** What the caller got; undefined where the run completed. */
  readonly error: string | undefined;
}

/** What the sink said at its end. */
export interface SinkCounts {
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly dropped: number;
  /** Requests that left lines without a result. */
  readonly delays: number;
}

export interface RustAgentOptions {
  readonly program: string;
  /** Where `entelix-otel serve` listens. */
  readonly url: string;
  readonly token?: string;
  readonly tenant: string;
  /** How often each scenario is played. Default 1. */
  readonly rounds?: number;
  /** Between two rounds, in ms. Default 0. */
  readonly pauseMs?: number;
}

/** A process of real entelix agents, whose events go to `entelix-otel serve`. */
export class RustAgent {
  /** As they end. */
  readonly runs: RustRun[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #counts: SinkCounts | undefined;
  #stderr = "";

  constructor({ program, url, token, tenant, rounds = 1, pauseMs = 0 }: RustAgentOptions) {
    const child = spawn(program, [String(rounds), String(pauseMs)], {
      env: {
        ...process.env,
        ENTELIX_OTEL_URL: url,
        ENTELIX_OTEL_TOKEN: token ?? "",
        TENANT: tenant,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    keep(child);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr += chunk;
    });
    createInterface({ input: child.stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
    this.#ended = once(child, "close").then(([status, signal]) => String(signal ?? status));
  }

  /** Resolves when so many runs have ended. */
  async ran(count: number): Promise<void> {
    await until(`${count} runs of the Rust agent`, () => this.runs.length >= count || undefined);
  }

  /** Waits for its end. @throws Error with what it said, when it fails. */
  async end(patience: Patience = { timeoutMs: 90_000 }): Promise<SinkCounts> {
    const status = await until(
      "the end of the Rust agent",
      () => (this.#child.exitCode === null && this.#child.signalCode === null ? undefined : true),
      patience,
    ).then(() => this.#ended);
    if (status !== "0" || this.#counts === undefined) {
      throw new Error(`Rust agent: ${status}\n${this.#stderr}`);
    }
    return this.#counts;
  }

  #hear(said: unknown): void {
    if (field(said, "scenario") === undefined) {
      const count = (name: string) => Number(field(said, name));
      this.#counts = {
        accepted: count("accepted"),
        duplicate: count("duplicate"),
        rejected: count("rejected"),
        dropped: count("dropped"),
        delays: count("delays"),
      };
      return;
    }
    const error = field(said, "error");
    this.runs.push({
      scenario: text(said, "scenario"),
      runIds: list(said, "run_ids").map((id) => text({ id }, "id")),
      events: Number(field(said, "events")),
      error: typeof error === "string" ? error : undefined,
    });
  }
}
