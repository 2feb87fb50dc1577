import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** How an example ended. */
export interface Ending {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs an example as a user would: a process of its own, the package by its name, and so by what was
 * built.
 *
 * @param env in place of every `OTEL_*` variable of this process, and of what says that this is a test:
 *   some frameworks do not trace then.
 */
export function runExample(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ending> {
  if (!existsSync(join(ROOT, "dist/index.mjs"))) {
    throw new Error("the examples need the built package: npm run build");
  }
  const inherited = Object.entries(process.env).filter(
    ([variable]) => !variable.startsWith("OTEL_") && variable !== "NODE_ENV",
  );
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(ROOT, "examples", name), ...args],
      { env: { ...Object.fromEntries(inherited), ...env } },
      (_, out, err) => resolve({ code: child.exitCode, out, err }),
    );
  });
}

/** What an example that must end well prints: a value of JSON on each line. */
export async function linesOf<L>(name: string): Promise<readonly L[]> {
  const { code, err, out } = await runExample(name);
  expect([code, err]).toEqual([0, ""]);
  return out
    .trimEnd()
    .split("\n")
    .map((line): L => JSON.parse(line));
}
