import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface BuiltEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs Node to its end in the repository's folder, where programs find the built package by its name. They have no
 * `OTEL_*` and `ENTELIX_*` variables but those given.
 *
 * @param args of Node.
 * @param isReady whether the program is to get SIGTERM after this output. Default: never.
 */
export function runNode(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  isReady: (output: string) => boolean = () => false,
): Promise<BuiltEnding> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(OTEL|ENTELIX)_/.test(name) && name !== "NODE_ENV",
  );
  const env = { ...Object.fromEntries(inherited), ...variables };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: ROOT, env }, (_, out, err) => {
      resolve({ code: child.exitCode, signal: child.signalCode, out, err });
    });
    child.stdout?.on("data", (chunk) => {
      if (isReady(String(chunk))) child.kill("SIGTERM");
    });
  });
}

/** Runs the text of a program in ES modules. */
export const runText = (text: string, variables: Readonly<Record<string, string>> = {}) =>
  runNode(["--input-type=module", "--eval", text], variables);
