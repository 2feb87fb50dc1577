// node bench/replay.mjs [--rounds N] [--short] [--write] [DIALECT ...]: replay of recorded lines from bytes to spans, in events
// per second as a share of what `JSON.parse` makes of the same lines as strings in memory.
//
// One dialect a process, since code that is warm for another is slower; the ratio is the median of the
// process's rounds, and of several processes. The control is a replay against a replay. "exact reading"
// is the time of parsing with every digit kept, of numbers and times, in that of `JSON.parse`; "floor" is the
// ratio of a replay that would do nothing but split lines, `JSON.parse` them and make their spans.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withBundle } from "../scripts/bundle-typescript.mjs";
import { show } from "./page.mjs";
import { format, median, NAMES, ROUNDS, short, write } from "./processes.mjs";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GOALS = { entelix: 0.35, "agent-sdk": 0.3, defect: 0.3, graph: 0.3 };

/** @returns one row a dialect. `--short` has one process each, without a control. */
function replayRows(dialects) {
  const rounds = short ? 3 : 21;
  return withBundle(new URL("replay/child.mjs", import.meta.url), async (program) => {
    const child = async (dialect, what) => {
      const args = ["--expose-gc", program, dialect, what, String(rounds)];
      const { stdout } = await run(process.execPath, args, { cwd: ROOT });
      return JSON.parse(stdout);
    };
    const rows = [];
    for (const dialect of dialects) {
      const ours = [];
      const exact = [];
      const floors = [];
      const control = [];
      for (let n = 0; n < ROUNDS; n++) {
        ours.push(await child(dialect, "replay"));
        exact.push(1 / (await child(dialect, "exact")).ratio);
        floors.push((await child(dialect, "floor")).ratio);
        if (!short) control.push((await child(dialect, "control")).ratio);
      }
      rows.push(row(dialect, { ours, exact, floors, control }));
    }
    return rows;
  });
}

function row(dialect, { ours, exact, floors, control }) {
  const ratios = ours.map(({ ratio }) => ratio);
  const ratio = median(ratios);
  const each = median(ours.map((one) => one.each));
  return {
    replay: dialect,
    ratio: format(ratio),
    "by the wall clock": format(median(ours.map(({ wall }) => wall))),
    goal: `>= ${GOALS[dialect].toFixed(2)}`,
    reached: ratio >= GOALS[dialect] ? "yes" : "no",
    spread: `${format(Math.min(...ratios))}–${format(Math.max(...ratios))}`,
    control: control.length === 0 ? "" : format(median(control)),
    "exact reading": format(median(exact)),
    floor: format(median(floors)),
    "JSON.parse, ns a line": Math.round(median(ours.map(({ base }) => base))),
    "events a second": Math.round(1e9 / each),
    "bytes a line": Math.round(ours[0].lineBytes),
    "spans an event": ours[0].spansPerLine.toFixed(2),
  };
}

const unknown = NAMES.find((name) => !(name in GOALS));
if (unknown !== undefined) {
  throw new TypeError(`expected one of ${Object.keys(GOALS).join(", ")}; got ${unknown}`);
}
if (NAMES.length > 0 && write) {
  throw new TypeError("--write: expected no dialects, because the table has all");
}
show("replay", await replayRows(NAMES.length > 0 ? NAMES : Object.keys(GOALS)));
