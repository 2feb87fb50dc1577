import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { namedPorts } from "./free-ports.ts";
import { ServerProcess } from "./server-process.ts";

/** A real collector that forwards spans at once, and says so only when they were taken. */
export interface ForwardingCollector {
  readonly server: ServerProcess;
  /** For `--endpoint`. */
  readonly endpoint: string;
}

/** @param to base URL of the receiver. */
export async function forwardingCollector(
  folder: string,
  to: string,
): Promise<ForwardingCollector> {
  const ports = await namedPorts(["otlp"]);
  const address = `127.0.0.1:${ports("otlp")}`;
  const config = join(folder, "forwarding-collector.yaml");
  await writeFile(config, configuration(address, to));
  const endpoint = `http://${address}`;
  const server = new ServerProcess({
    name: "collector",
    program: inject("serverPaths").collector ?? "",
    args: ["--config", config],
    cwd: folder,
    log: join(folder, "collector.log"),
    // It answers 405 to a GET, when it answers.
    ready: () => fetch(`${endpoint}/v1/traces`),
  });
  await server.start();
  return { server, endpoint };
}

/** Without a queue: what the collector has acknowledged must not be lost when it is killed. */
function configuration(address: string, to: string): string {
  return `receivers:
  otlp: { protocols: { http: { endpoint: "${address}" } } }
exporters:
  otlp_http:
    endpoint: ${to}
    encoding: json
    compression: none
    sending_queue: { enabled: false }
    retry_on_failure: { enabled: false }
service:
  telemetry: { metrics: { level: none } }
  pipelines:
    traces: { receivers: [otlp], exporters: [otlp_http] }
`;
}
