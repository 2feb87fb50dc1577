// What benchmarks with one side a process share: processes that take turns, and the columns of their ratios.
import { execFile } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const run = promisify(execFile);
const HERE = fileURLToPath(new URL(".", import.meta.url));
// Programs that are bundled run in another folder.
process.env.ENTELIX_BENCH_PACKAGE ??= fileURLToPath(new URL("..", import.meta.url));

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
export const format = (value) => value.toFixed(3);

/** The command line of every benchmark. */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** The folder of another version of this package, built. */
    package: { type: "string" },
    /** Processes of each side. */
    rounds: { type: "string" },
    /** Shows that a benchmark works, and about what it says. */
    short: { type: "boolean", default: false },
    /** Puts the tables on docs/benchmarks.md. */
    write: { type: "boolean", default: false },
    /** Only this one, for a look at it. */
    framework: { type: "string" },
  },
});
export const { framework: ONLY, short, write } = values;
/** What is not an option. */
export const NAMES = positionals;
export const ROUNDS = Number(values.rounds ?? (short ? 1 : 5));
export const MEDIANS = `medians of ${ROUNDS} processes`;
export const BEFORE = values.package === undefined ? undefined : resolve(values.package);
/** @returns what is measured: this checkout, and the version of `--package`. */
export function builds() {
  if (BEFORE === undefined) return [{ title: "" }];
  // Where it finds the packages that it imports.
  const folder = join(HERE, "../node_modules/.cache/entelix-otel", `before-${process.pid}`);
  process.once("exit", () => rmSync(folder, { recursive: true }));
  cpSync(join(BEFORE, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(BEFORE, "package.json"), join(folder, "package.json"));
  return [{ title: "" }, { title: "before: ", folder }];
}

/**
 * Runs a program of this folder to its end.
 *
 * @param folder of the build that it measures. Default: this checkout.
 * @returns the JSON that it prints last.
 */
export async function child(file, args = [], flags = [], folder = undefined) {
  const env = folder === undefined ? {} : { ENTELIX_BENCH_PACKAGE: folder };
  const { stdout } = await run(process.execPath, [...flags, file, ...args.map(String)], {
    cwd: HERE,
    env: { ...process.env, ...env },
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** @returns what `base` and `other` give in turn, A B, B A, ...: pairs of neighbours. */
export async function pairs(count, base, other) {
  const made = [];
  for (let n = 0; n < count; n++) {
    if (n % 2 === 0) {
      const a = await base();
      made.push([a, await other()]);
    } else {
      const b = await other();
      made.push([await base(), b]);
    }
  }
  return made;
}

/** @returns the columns that all tables have. @param goal at most this; nothing is judged without. */
export function judged(ratios, goal, ratio = median(ratios)) {
  return {
    ratio: format(ratio),
    goal: goal === undefined ? "" : `<= ${goal.toFixed(2)}`,
    reached: goal === undefined ? "" : ratio <= goal ? "yes" : "no",
    spread: `${format(Math.min(...ratios))}–${format(Math.max(...ratios))}`,
  };
}
