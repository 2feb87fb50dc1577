import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Trial } from "../trial.ts";

/** Something that is no file, under the name of one. */
export interface Obstacle {
  readonly name: string;
  make(trial: Trial, path: string): Promise<void>;
}

export const OBSTACLES: readonly Obstacle[] = [
  { name: "a FIFO", make: async (_, path) => fifo(path) },
  {
    name: "a directory",
    make: async (_, path) => {
      mkdirSync(path);
      writeFileSync(join(path, "something"), "in it");
    },
  },
  { name: "a dangling link", make: async (_, path) => symlinkSync(`${path}-gone`, path) },
  { name: "a link to itself", make: async (_, path) => symlinkSync(path, path) },
  { name: "a link to a FIFO", make: async (_, path) => linkedFifo(path) },
  { name: "a socket", make: listening },
  { name: "an empty file", make: async (_, path) => writeFileSync(path, "") },
];

/** Names that a journal gives to its files. */
export const JOURNAL_NAMES = [
  "lock-1",
  "lock-999",
  "sock-0123456789ab",
  "sock-0123456789ab.tmp",
  "checkpoint",
  "checkpoint.tmp",
  "lines-0000000000000000.v1.log",
  "torn",
];

/** Names that an audit log gives to its files. */
export const AUDIT_NAMES = [
  "lock-1",
  "sock-0123456789ab",
  "segment-00000001.ndjson",
  "segment-00000001.index",
  "segment-00000002.ndjson",
  "archive",
  "torn",
];

function fifo(path: string): void {
  const { status, stderr } = spawnSync("mkfifo", [path], { encoding: "utf8" });
  if (status !== 0) throw new Error(`mkfifo: ${stderr}`);
}

function linkedFifo(path: string): void {
  fifo(`${path}-fifo`);
  symlinkSync(`${path}-fifo`, path);
}

/** One that somebody listens on, and says nothing. */
function listening(trial: Trial, path: string): Promise<void> {
  const server = createServer((client) => client.destroy());
  trial.atEnd(() => new Promise((resolve) => server.close(resolve)));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path }, () => resolve());
  });
}
