import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built command. */
export const MAIN = fileURLToPath(new URL("../../../dist/cli/main.mjs", import.meta.url));

/** Where tests begin. A command line in their process may be in another directory just now. */
const DIRECTORY = process.cwd();

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly cwd?: string;
  /** Ends it with SIGKILL, and has the promise reject. */
  readonly signal?: AbortSignal;
  /** Called with everything written to standard output so far. */
  readonly onStdout?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** Close standard output after this many bytes, as `head` does. */
  readonly closeStdoutAfter?: number;
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command, with nothing of this process's `OTEL_*` variables. */
export async function command(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH, HOME, TMPDIR, ...options.env },
    cwd: options.cwd ?? DIRECTORY,
    signal: options.signal,
    killSignal: "SIGKILL",
    stdio: "pipe",
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    stdout.push(chunk);
    bytes += chunk.length;
    options.onStdout?.(Buffer.concat(stdout).toString("utf8"), (signal) => child.kill(signal));
    if (options.closeStdoutAfter !== undefined && bytes >= options.closeStdoutAfter) {
      child.stdout.destroy();
    }
  });
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // The command may end without having read everything.
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const texts = [stdout, stderr].map((chunks) => Buffer.concat(chunks).toString("utf8"));
      resolve({ code, signal, stdout: texts[0] ?? "", stderr: texts[1] ?? "" });
    });
  });
}
