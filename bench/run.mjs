// npm run bench [-- PROGRAM…] [--package DIR] [--rounds N] [--short] [--write]: the benchmarks of docs/benchmarks.md,
// but those of the page of `view`. `--write` puts the tables on the page, with the commit. `--short` is for CI: it shows
// that they work. No time is judged.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { NAMES } from "./processes.mjs";

const PROGRAMS = [
  "agents",
  "bridge",
  "audit",
  "open-runs",
  "replay",
  "values",
  "export",
  "entry-size",
];

const strange = NAMES.find((name) => !PROGRAMS.includes(name));
if (strange !== undefined) {
  throw new TypeError(`expected one of ${PROGRAMS.join(", ")}; got ${strange}`);
}
const options = process.argv.slice(2).filter((arg) => !NAMES.includes(arg));
for (const name of NAMES.length > 0 ? NAMES : PROGRAMS) {
  const from = performance.now();
  const program = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const { status } = spawnSync(process.execPath, [program, ...options], { stdio: "inherit" });
  console.log(`${name}: ${Math.round((performance.now() - from) / 1000)} s`);
  if (status !== 0) {
    console.error(`bench/${name}.mjs failed`);
    process.exitCode = 1;
  }
}
