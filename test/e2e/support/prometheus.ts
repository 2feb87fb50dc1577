import { join } from "node:path";
import type { Document } from "yaml";
import type { PlacedServer, PortName } from "./placed-server.ts";
import { PrometheusClient } from "./prometheus-client.ts";
import { ServerProcess } from "./server-process.ts";
import { copyFolderScaled, copyScaled, replaceTexts } from "./shipped-config.ts";

/** The ports that the shipped configuration names, and what listens there. */
const TARGETS: Readonly<Record<string, PortName>> = {
  "8888": "collectorSelf",
  "8889": "collectorMetrics",
  "9090": "prometheus",
  "9093": "alertmanager",
};

/** Prometheus' default, in ms: how long a sample counts as the newest of its series. */
const LOOKBACK_MS = 300_000;

/** The shipped configuration and rules, with durations divided and targets on free ports. */
export async function prometheus(
  { program, folder, ports, shipped }: PlacedServer,
  factor: number,
  editRules?: (document: Document) => void,
): Promise<ServerProcess> {
  const config = join(folder, "prometheus", "prometheus.yml");
  const rules = join(folder, "prometheus", "rules");
  await copyFolderScaled(shipped("deploy/prometheus/rules"), rules, factor, editRules);
  await copyScaled(shipped("deploy/prometheus/prometheus.yml"), config, factor, (document) => {
    replaceTexts(document, "targets", (target) => {
      const name = TARGETS[target.replace(/^.*:/, "")];
      if (name === undefined) throw new Error(`${target}: what should listen there in a test?`);
      return `127.0.0.1:${ports(name)}`;
    });
    replaceTexts(document, "rule_files", (pattern) => join(rules, pattern.replace(/^.*\//, "")));
  });
  const base = `http://127.0.0.1:${ports("prometheus")}`;
  return new ServerProcess({
    name: "prometheus",
    program,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "prometheus", "data")}`,
      `--web.listen-address=127.0.0.1:${ports("prometheus")}`,
      `--query.lookback-delta=${LOOKBACK_MS / factor}ms`,
      "--enable-feature=exemplar-storage",
    ],
    cwd: folder,
    log: join(folder, "prometheus.log"),
    ready: () => new PrometheusClient(base).ready(),
  });
}
