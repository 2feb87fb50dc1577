import { join } from "node:path";
import { fetchText } from "./http.ts";
import type { PlacedServer } from "./placed-server.ts";
import { ServerProcess } from "./server-process.ts";

/** The shipped configuration as it is; where it listens and what it keeps come by environment. */
export function collector(
  { program, folder, ports, shipped }: PlacedServer,
  env: Readonly<Record<string, string>>,
): ServerProcess {
  const at = (name: Parameters<typeof ports>[0]) => `127.0.0.1:${ports(name)}`;
  return new ServerProcess({
    name: "collector",
    program,
    args: ["--config", shipped("collector-config.yaml")],
    env: {
      OTLP_GRPC_ENDPOINT: at("otlpGrpc"),
      OTLP_HTTP_ENDPOINT: at("otlpHttp"),
      REPLAY_HTTP_ENDPOINT: at("replayHttp"),
      HEALTH_ENDPOINT: at("collectorHealth"),
      SELF_METRICS_HOST: "127.0.0.1",
      SELF_METRICS_PORT: String(ports("collectorSelf")),
      PROMETHEUS_ENDPOINT: at("collectorMetrics"),
      JAEGER_OTLP_ENDPOINT: at("jaegerOtlp"),
      QUEUE_DIR: join(folder, "queue"),
      ...env,
    },
    cwd: folder,
    log: join(folder, "collector.log"),
    ready: () => fetchText(`http://${at("collectorHealth")}/`),
  });
}
