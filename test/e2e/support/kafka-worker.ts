import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { namedPorts } from "./free-ports.ts";
import { fetchText } from "./http.ts";
import type { KafkaBroker } from "./kafka-broker.ts";
import { keep } from "./keeper.ts";
import { until } from "./until.ts";

export interface WorkerOptions {
  readonly name: string;
  readonly broker: KafkaBroker;
  /** Path of the installed command. */
  readonly command: string;
  /** Beside brokers, session timeout and the address of its figures. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The shortest that a broker takes: a killed worker's partitions are others' soon. */
const SESSION_S = "6";

/** One `entelix-otel consume` of the built package, as a process of its own. */
export class KafkaWorker {
  readonly options: WorkerOptions;
  readonly log: string;
  #child: ChildProcess | undefined;
  #ended: Promise<number | string> = Promise.resolve("not started");
  #port = 0;

  constructor(options: WorkerOptions) {
    this.options = options;
    this.log = join(options.broker.folder, `${options.name}.log`);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it runs; it need not be a member of its group by then. */
  async start(): Promise<void> {
    const { broker, command, args, env } = this.options;
    this.#port = (await namedPorts(["status"]))("status");
    const child = spawn(
      broker.installed.node,
      [
        command,
        "consume",
        "--brokers",
        broker.address,
        "--session-timeout",
        SESSION_S,
        "--listen",
        `127.0.0.1:${this.#port}`,
        ...args,
      ],
      { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
    );
    keep(child);
    this.#child = child;
    const out = createWriteStream(this.log, { flags: "a" });
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    this.#ended = new Promise((resolve) => {
      child.once("close", (status, signal) => {
        this.#child = undefined;
        out.end(() => resolve(signal ?? status ?? "unknown"));
      });
    });
  }

  /**
   * Sums of its figures over the partitions, by the names without their prefix; `known_partitions` is how
   * many it knows the end of.
   */
  async figures(): Promise<ReadonlyMap<string, number>> {
    const text = await fetchText(`http://127.0.0.1:${this.#port}/metrics`);
    const sums = new Map<string, number>();
    for (const line of text.split("\n")) {
      const [, name, value] = /^entelix_consume_(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
      if (name === undefined) continue;
      sums.set(name, (sums.get(name) ?? 0) + Number(value));
      if (name === "behind_records") {
        sums.set("known_partitions", (sums.get("known_partitions") ?? 0) + 1);
      }
    }
    return sums;
  }

  /** Whether it is a member of its group, and its log processors go on. */
  async ready(): Promise<true> {
    await until(
      `${this.options.name} is ready`,
      () => fetchText(`http://127.0.0.1:${this.#port}/readyz`),
      { timeoutMs: 60_000 },
    );
    return true;
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  /** As an operator ends it. @returns its exit code, or the signal that ended it. */
  async stop(): Promise<number | string> {
    this.#child?.kill("SIGTERM");
    return this.#ended;
  }

  said(): Promise<string> {
    return readFile(this.log, "utf8");
  }
}
