import { join } from "node:path";
import { AlertmanagerClient } from "./alertmanager-client.ts";
import type { PlacedServer } from "./placed-server.ts";
import { ServerProcess } from "./server-process.ts";
import { copyScaled, replaceTexts } from "./shipped-config.ts";

/** The shipped configuration with its waits divided; its webhooks go to the test, their paths stay. */
export async function alertmanager(
  { program, folder, ports, shipped }: PlacedServer,
  factor: number,
  webhookPort: number,
): Promise<ServerProcess> {
  const config = join(folder, "alertmanager", "alertmanager.yml");
  await copyScaled(shipped("deploy/alertmanager/alertmanager.yml"), config, factor, (document) =>
    replaceTexts(document, "url", (address) => {
      const url = new URL(address);
      url.host = `127.0.0.1:${webhookPort}`;
      return url.href;
    }),
  );
  const base = `http://127.0.0.1:${ports("alertmanager")}`;
  return new ServerProcess({
    name: "alertmanager",
    program,
    args: [
      `--config.file=${config}`,
      `--storage.path=${join(folder, "alertmanager", "data")}`,
      `--web.listen-address=127.0.0.1:${ports("alertmanager")}`,
      // Empty: no cluster, so no port for it.
      "--cluster.listen-address=",
    ],
    cwd: folder,
    log: join(folder, "alertmanager.log"),
    ready: () => new AlertmanagerClient(base).ready(),
  });
}
