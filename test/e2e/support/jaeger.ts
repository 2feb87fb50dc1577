import { join } from "node:path";
import { fetchText } from "./http.ts";
import type { PlacedServer } from "./placed-server.ts";
import { ServerProcess } from "./server-process.ts";

/** `disk` is Badger, as it is shipped. */
export type JaegerStorage = "disk" | "memory";

/** The shipped configuration as it is; where it listens and stores comes by environment. */
export function jaeger(
  { program, folder, ports, shipped }: PlacedServer,
  storage: JaegerStorage,
): ServerProcess {
  return new ServerProcess({
    name: "jaeger",
    program,
    args: ["--config", shipped("deploy/jaeger/config.yaml")],
    env: {
      JAEGER_LISTEN_HOST: "127.0.0.1",
      JAEGER_STORAGE: storage,
      JAEGER_DATA: join(folder, "jaeger"),
      JAEGER_OTLP_GRPC_PORT: String(ports("jaegerOtlp")),
      JAEGER_HEALTH_PORT: String(ports("jaegerHealth")),
      JAEGER_QUERY_PORT: String(ports("jaegerQuery")),
      JAEGER_QUERY_GRPC_PORT: String(ports("jaegerGrpc")),
      PROMETHEUS_URL: `http://127.0.0.1:${ports("prometheus")}`,
    },
    cwd: folder,
    log: join(folder, "jaeger.log"),
    ready: async () => {
      await fetchText(`http://127.0.0.1:${ports("jaegerQuery")}/api/services`);
      return fetchText(`http://127.0.0.1:${ports("jaegerHealth")}/status`);
    },
  });
}
