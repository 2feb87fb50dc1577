import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("keeper.mjs", import.meta.url));

let input: Writable | undefined;

/**
 * Has the process ended when this one ends without doing so: by an interruption, a crash, a
 * `kill -9`.
 */
export function keep(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  tell(`+process ${pid}`);
  child.once("exit", () => tell(`-process ${pid}`));
}

/** The same for a folder of this machine. Call what is returned when it was removed. */
export function keepFolder(path: string): () => void {
  tell(`+folder ${path}`);
  return () => tell(`-folder ${path}`);
}

function tell(line: string): void {
  input ??= start();
  input.write(`${line}\n`);
}

/** Detached: what ends this process and its group must not end the keeper. */
function start(): Writable {
  const keeper = spawn(process.execPath, [PROGRAM], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const { stdin } = keeper;
  // It stays as long as this process, and must not hold it.
  keeper.unref();
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  stdin.on("error", () => {});
  // Vitest has gone, and a test that is under way would go on without it.
  process.once("disconnect", () => process.exit(1));
  return stdin;
}
