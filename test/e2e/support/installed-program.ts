import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface EndedProgram {
  readonly status: number;
  /** Standard output and standard error. */
  readonly said: string;
}

/** The path of a program that `scripts/servers` installs or builds where it is absent. */
export async function installedProgram(name: string): Promise<string> {
  const { status, said } = await runProgram(process.execPath, [
    "scripts/servers/install.mjs",
    name,
  ]);
  const line = said.split("\n").find((one) => one.startsWith(`${name} `));
  if (status !== 0 || line === undefined) throw new Error(`${name} was not installed: ${said}`);
  return line.split(" ").slice(2).join(" ");
}

/** Runs a program in the repository's folder, to its end. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<EndedProgram> {
  return new Promise((resolve, reject) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env } };
    execFile(program, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === "number") resolve({ status, said: stdout + stderr });
      else reject(error);
    });
  });
}
