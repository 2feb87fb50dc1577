import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Recording } from "./recording.ts";
import { type Stack, shipped } from "./stack.ts";

/**
 * Runs `entelix-otel replay` of the built package, to the collector's port for replays.
 *
 * @param env beside this process's own.
 * @returns its summary.
 */
export async function replay(
  recordings: readonly Recording[],
  stack: Stack,
  serviceName: string,
  env: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const file = join(stack.folder, `${crypto.randomUUID()}.ndjson`);
  const lines = recordings.flatMap((recording) => recording.lines.map(({ text }) => `${text}\n`));
  await writeFile(file, lines.join(""));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      shipped("dist/cli/main.mjs"),
      "replay",
      "--json",
      "--endpoint",
      stack.replayEndpoint,
      "--service-name",
      serviceName,
      file,
    ],
    { env: { ...process.env, ...env } },
  );
  const summary: unknown = JSON.parse(stdout);
  return summary;
}
