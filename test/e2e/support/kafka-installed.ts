import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const INSTALL = fileURLToPath(new URL("../../../scripts/servers/install.mjs", import.meta.url));

/** Where what Kafka needs is. */
export interface KafkaInstalled {
  /** Folder of the broker's jars. */
  readonly jars: string;
  /** `node_modules` with the client. */
  readonly client: string;
  /** A Node that the client runs on. */
  readonly node: string;
}

let installed: Promise<KafkaInstalled> | undefined;

/** Installs what is missing. */
export function kafkaInstalled(): Promise<KafkaInstalled> {
  installed ??= install();
  return installed;
}

async function install(): Promise<KafkaInstalled> {
  const names = ["kafka", "kafka-client", "newer-node"];
  const { stdout } = await promisify(execFile)(process.execPath, [INSTALL, ...names]);
  const [jars = "", client = "", node = ""] = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" ").slice(2).join(" "));
  return { jars, client, node };
}
