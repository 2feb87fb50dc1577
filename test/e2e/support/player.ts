import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TracingOptions } from "../../../src/entries/setup.ts";
import { compareInstants, toMilliseconds } from "../../../src/events/door.ts";
import type { BridgeOptions } from "../../../src/index.ts";
import { field, list, text } from "./json-shape.ts";
import { keep } from "./keeper.ts";
import type { Recording } from "./recording.ts";
import { until } from "./until.ts";

const PROGRAM = fileURLToPath(new URL("../programs/play.mjs", import.meta.url));

export interface PlayerOptions {
  /** Which setup the process uses: spans alone, or metrics too. Default `setupTracing`. */
  readonly setup?: "setupTracing" | "setupTelemetry";
  /** For the setup; what JSON can say of them. */
  readonly options?: Pick<
    TracingOptions,
    "serviceName" | "endpoint" | "headers" | "resourceAttributes" | "shutdownTimeoutMs"
  >;
  readonly bridge?: Pick<BridgeOptions, "limits" | "mode">;
  /**
   * Beside this process's own environment, from which `OTEL_*` is left out, and the interval of the
   * metrics, which is a 60th of the default.
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** Between two exports of metrics, in ms. */
const METRIC_INTERVAL_MS = 15_000 / 60;

/** What a process says at its end. */
export interface Played {
  readonly events: number;
  /** What it reported to `onError`. */
  readonly errors: readonly string[];
  readonly spans: Readonly<Record<string, unknown>>;
}

/** An agent's process of its own: the built package, wired by its setup, that is given events. */
export class Player {
  readonly #child: ChildProcess;
  readonly #said: unknown[] = [];
  #stderr = "";
  readonly #ended: Promise<string>;

  constructor({ env, setup = "setupTracing", options = {}, bridge = {} }: PlayerOptions) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
    const argument = JSON.stringify({ setup, options, bridge });
    const child = spawn(process.execPath, [PROGRAM, argument], {
      env: {
        ...Object.fromEntries(inherited),
        OTEL_METRIC_EXPORT_INTERVAL: String(METRIC_INTERVAL_MS),
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    keep(child);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr += chunk;
    });
    // A process that was killed does not read what it is told any more.
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message: unknown = JSON.parse(line);
      this.#said.push(message);
    });
    this.#ended = once(child, "close").then(([status, signal]) => String(signal ?? status));
  }

  /** Sends the lines at once, one after the other. */
  tell(lines: readonly string[]): void {
    this.#child.stdin?.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Sends each event of the recordings when its time has come. */
  async play(recordings: readonly Recording[]): Promise<void> {
    const lines = recordings
      .flatMap((recording) => recording.lines)
      .sort((a, b) => compareInstants(a.at, b.at));
    for (const { at, text } of lines) {
      const early = toMilliseconds(at) - Date.now();
      if (early > 0) await sleep(early);
      this.tell([text]);
    }
  }

  /** Resolves when the spans that have ended so far, and the metrics, have been sent. */
  async flush(): Promise<void> {
    const before = this.#said.length;
    this.tell(["flush"]);
    await until("flushed", () => this.#said[before]);
  }

  /** Ends its input, and waits for its shutdown. @throws Error with what it said, when it fails. */
  async end(): Promise<Played> {
    this.#child.stdin?.end();
    const status = await this.#ended;
    const last = this.#said.at(-1);
    if (status !== "0" || last === undefined) throw new Error(`player: ${status}\n${this.#stderr}`);
    const spans = field(last, "spans");
    return {
      events: Number(field(last, "events")),
      errors: list(last, "errors").map((error) => text({ error }, "error")),
      spans: typeof spans === "object" && spans !== null ? { ...spans } : {},
    };
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

/** Plays recordings in a process of their own, to its end. */
export async function playLive(
  recordings: readonly Recording[],
  options: PlayerOptions,
): Promise<Played> {
  const player = new Player(options);
  await player.play(recordings);
  return player.end();
}
