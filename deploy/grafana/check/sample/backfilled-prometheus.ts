import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { installed } from "../installed.ts";
import type { Recorder } from "./recorder.ts";

/** A Prometheus that scrapes nothing and has the recorded series in its store. */
export interface BackfilledPrometheus {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts `prometheus` on a free port of this machine; `promtool` makes the blocks. Both are built where they are
 * missing.
 *
 * @param folder an empty one, for the caller to remove after `stop()`
 * @throws Error when one of the programs is not there or fails
 */
export async function backfilledPrometheus(
  recorder: Recorder,
  folder: string,
): Promise<BackfilledPrometheus> {
  const text = join(folder, "samples.txt");
  const store = join(folder, "store");
  const config = join(folder, "prometheus.yml");
  await pipeline(Readable.from(recorder.text()), createWriteStream(text));
  await writeFile(config, "global: {}\n");
  const args = ["tsdb", "create-blocks-from", "openmetrics", text, store];
  const made = spawnSync(installed("promtool"), args, { encoding: "utf8" });
  if (made.error !== undefined || made.status !== 0) {
    throw new Error(`promtool: ${made.error?.message ?? made.stderr}`);
  }
  const port = await freePort();
  const child = spawn(
    installed("prometheus"),
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${store}`,
      // The samples are as old as the pictures are.
      "--storage.tsdb.retention.time=100y",
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([once(child, "spawn"), once(child, "error").then(([error]) => fail(error))]);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  try {
    await ready(url, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 150; attempt++) {
    if (child.exitCode !== null) throw new Error(`prometheus: exit ${child.exitCode}`);
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (answer?.ok === true) return;
    await sleep(200);
  }
  throw new Error("prometheus: not ready within 30 s");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("expected a port");
  return address.port;
}

function fail(error: unknown): never {
  throw new Error(`prometheus: ${String(error)}`);
}
