import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import type { Document } from "yaml";
import { alertmanager } from "./alertmanager.ts";
import { AlertmanagerClient } from "./alertmanager-client.ts";
import { collector } from "./collector.ts";
import { namedPorts } from "./free-ports.ts";
import { type JaegerStorage, jaeger } from "./jaeger.ts";
import { JaegerClient } from "./jaeger-client.ts";
import { keepFolder } from "./keeper.ts";
import { type PlacedServer, PORTS, type PortName } from "./placed-server.ts";
import { prometheus } from "./prometheus.ts";
import { PrometheusClient } from "./prometheus-client.ts";
import type { ServerProcess } from "./server-process.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

/** In the order in which they start. */
export const SERVERS = ["jaeger", "collector", "alertmanager", "prometheus"] as const;
export type ServerName = (typeof SERVERS)[number];

export interface StackOptions {
  /** Default: all of them. */
  readonly servers?: readonly ServerName[];
  /** Default `disk`, as shipped. */
  readonly jaegerStorage?: JaegerStorage;
  /** What every duration of the shipped rules and waits is divided by. Default 60: a minute is a second. */
  readonly factor?: number;
  /** Edits each rule file, beside its durations: limits that are values do not shorten by themselves. */
  readonly editRules?: (document: Document) => void;
  /** For the collector's environment, beside the addresses and the flush interval. */
  readonly collectorEnv?: Readonly<Record<string, string>>;
}

/** How often the shipped collector hands span metrics over, in ms. */
const FLUSH_MS = 15_000;

/**
 * The shipped deployment on free ports of this machine: the real servers with the shipped
 * configuration, in a folder of its own.
 *
 * @example
 * const stack = await Stack.start({ servers: ["jaeger", "collector"] });
 * try { … } finally { await stack.stop(); }
 */
export class Stack {
  readonly folder: string;
  readonly webhook = new WebhookReceiver();
  /** What durations were divided by. */
  readonly factor: number;
  readonly #ports: (name: PortName) => number;
  readonly #servers = new Map<ServerName, ServerProcess>();
  readonly #forgetFolder: () => void;

  private constructor(folder: string, ports: (name: PortName) => number, factor: number) {
    this.folder = folder;
    this.factor = factor;
    this.#ports = ports;
    this.#forgetFolder = keepFolder(folder);
  }

  /** @throws Error with the log of the server that does not start; those before it are stopped. */
  static async start(options: StackOptions = {}): Promise<Stack> {
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-e2e-"));
    const stack = new Stack(folder, await namedPorts(PORTS), options.factor ?? 60);
    try {
      await stack.webhook.start();
      for (const name of SERVERS) {
        if (options.servers?.includes(name) === false) continue;
        const server = await stack.#server(name, options);
        stack.#servers.set(name, server);
        await server.start();
      }
    } catch (error) {
      await stack.stop();
      throw error;
    }
    return stack;
  }

  /** For live telemetry, by OTLP/HTTP. */
  get endpoint(): string {
    return this.url("otlpHttp");
  }

  /** For replays, by OTLP/HTTP. */
  get replayEndpoint(): string {
    return this.url("replayHttp");
  }

  get jaeger(): JaegerClient {
    return new JaegerClient(this.url("jaegerQuery"));
  }

  get prometheus(): PrometheusClient {
    return new PrometheusClient(this.url("prometheus"));
  }

  get alertmanager(): AlertmanagerClient {
    return new AlertmanagerClient(this.url("alertmanager"));
  }

  url(port: PortName): string {
    return `http://127.0.0.1:${this.#ports(port)}`;
  }

  /** One server, to stop, kill and start it again. */
  server(name: ServerName): ServerProcess {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`${name} is not in this stack`);
    return server;
  }

  /** Stops what runs, the last started first, and removes the folder. */
  async stop(): Promise<void> {
    for (const server of [...this.#servers.values()].reverse()) await server.stop();
    await this.webhook.stop();
    await rm(this.folder, { recursive: true, force: true });
    this.#forgetFolder();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #server(name: ServerName, options: StackOptions): Promise<ServerProcess> {
    const program = inject("serverPaths")[name];
    if (program === undefined) throw new Error(`${name} was not installed`);
    const placed: PlacedServer = { program, folder: this.folder, ports: this.#ports, shipped };
    switch (name) {
      case "jaeger":
        return jaeger(placed, options.jaegerStorage ?? "disk");
      case "collector":
        return collector(placed, {
          SPANMETRICS_FLUSH: `${FLUSH_MS / this.factor}ms`,
          ...options.collectorEnv,
        });
      case "alertmanager":
        return alertmanager(placed, this.factor, this.webhook.port);
      case "prometheus":
        return prometheus(placed, this.factor, options.editRules);
      default:
        return name satisfies never;
    }
  }
}

/** The absolute path of a shipped file. */
export function shipped(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
