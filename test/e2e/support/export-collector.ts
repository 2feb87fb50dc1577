import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { stringify } from "yaml";
import { ProtobufServer } from "../../bridge/export/support/protobuf-server.ts";
import { collector } from "./collector.ts";
import { namedPorts } from "./free-ports.ts";
import { keepFolder } from "./keeper.ts";
import { PORTS } from "./placed-server.ts";
import { ServerProcess } from "./server-process.ts";
import { shipped } from "./stack.ts";

/**
 * The real collector with the shipped configuration, whose spans go to a receiver here in place of
 * Jaeger; and beside it a receiver of its own that does nothing to what it takes.
 *
 * A request is answered when the spans are here: there is no queue between.
 */
export class ExportCollector {
  /** As shipped: what is too long is cut, and content is taken off. */
  readonly endpoint: string;
  /** Goes through the collector untouched. */
  readonly rawEndpoint: string;
  /** Where its spans arrive. */
  readonly downstream: ProtobufServer;
  readonly #process: ServerProcess;
  readonly #folder: string;
  readonly #forgetFolder: () => void;

  private constructor(
    endpoints: { readonly shipped: string; readonly raw: string },
    downstream: ProtobufServer,
    process: ServerProcess,
    folder: string,
  ) {
    this.endpoint = endpoints.shipped;
    this.rawEndpoint = endpoints.raw;
    this.downstream = downstream;
    this.#process = process;
    this.#folder = folder;
    this.#forgetFolder = keepFolder(folder);
  }

  static async start(): Promise<ExportCollector> {
    const { collector: program } = inject("serverPaths");
    if (program === undefined) throw new Error("the collector was not installed");
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-export-"));
    const ports = await namedPorts([...PORTS, "raw"]);
    const downstream = await ProtobufServer.start();
    const more = join(folder, "more.yaml");
    const raw = `127.0.0.1:${ports("raw")}`;
    await writeFile(more, stringify(toDownstream(raw, new URL(downstream.url).origin)));
    const { options } = collector({ program, folder, ports, shipped }, {});
    const process = new ServerProcess({ ...options, args: [...options.args, "--config", more] });
    const endpoints = { shipped: `http://127.0.0.1:${ports("otlpHttp")}`, raw: `http://${raw}` };
    const made = new ExportCollector(endpoints, downstream, process, folder);
    try {
      await process.start();
    } catch (error) {
      await made.stop();
      throw error;
    }
    return made;
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await this.downstream.close();
    await rm(this.#folder, { recursive: true, force: true });
    this.#forgetFolder();
  }
}

/** What is laid over the shipped configuration; a list in it takes the place of that list. */
function toDownstream(raw: string, endpoint: string) {
  const exporters = ["otlp_http/downstream"];
  return {
    receivers: { "otlp/raw": { protocols: { http: { endpoint: raw } } } },
    exporters: {
      "otlp_http/downstream": {
        endpoint,
        compression: "none",
        sending_queue: { enabled: false },
        retry_on_failure: { enabled: false },
      },
    },
    service: {
      pipelines: {
        "traces/kept": { exporters },
        "traces/at_once": { exporters },
        "traces/replay": { exporters },
        "traces/raw": { receivers: ["otlp/raw"], exporters },
      },
    },
  };
}
