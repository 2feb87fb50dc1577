// What benches of one variant a process share: processes that take turns, and what is said of their ratios.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const HERE = fileURLToPath(new URL(".", import.meta.url));

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
export const format = (value) => value.toFixed(3);

/** Runs a program of this folder to its end. @returns the JSON that it prints last. */
export async function child(file, args = [], flags = []) {
  const { stdout } = await run(process.execPath, [...flags, file, ...args.map(String)], {
    cwd: HERE,
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
export function judged(ratios, goal) {
  const ratio = median(ratios);
  return {
    ratio: format(ratio),
    goal: goal === undefined ? "" : `<= ${goal.toFixed(2)}`,
    reached: goal === undefined ? "" : ratio <= goal ? "yes" : "no",
    spread: `${format(Math.min(...ratios))}–${format(Math.max(...ratios))}`,
  };
}
