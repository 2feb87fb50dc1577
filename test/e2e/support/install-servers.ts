import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const INSTALL = fileURLToPath(new URL("../../../scripts/servers/install.mjs", import.meta.url));

/** Where the programs of the servers are, by their name in `scripts/servers`. */
export type ServerPaths = Readonly<Record<string, string>>;

declare module "vitest" {
  export interface ProvidedContext {
    serverPaths: ServerPaths;
  }
}

/** Runs once before all tests: the servers are installed, or built where they are absent. */
export default async function installServers({ provide }: TestProject): Promise<void> {
  const names = [
    "collector",
    "jaeger",
    "prometheus",
    "alertmanager",
    "opentelemetry-python",
    "schemathesis",
  ];
  const running = promisify(execFile)(process.execPath, [INSTALL, ...names]);
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running;
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  provide(
    "serverPaths",
    Object.fromEntries(lines.map(([name = "", , ...path]) => [name, path.join(" ")])),
  );
}
