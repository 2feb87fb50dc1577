import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What an installation of the command finds beside it: the Kafka client, and PostgreSQL's. */
const BESIDE = { "@platformatic/kafka": "client", pg: "ours" } as const;

/**
 * Lays the built package out as npm would, with the client beside it: the command finds it only there.
 *
 * @returns the path of the command.
 */
export async function installedCommand(folder: string, client: string): Promise<string> {
  const modules = join(folder, "node_modules");
  const ours = join(modules, "entelix-otel");
  await mkdir(ours, { recursive: true });
  await cp(join(ROOT, "dist"), join(ours, "dist"), { recursive: true });
  await cp(join(ROOT, "package.json"), join(ours, "package.json"));
  for (const [name, from] of Object.entries(BESIDE)) {
    const place = join(modules, name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(from === "client" ? client : join(ROOT, "node_modules"), name), place);
  }
  return join(ours, "dist/cli/main.mjs");
}
