// npm run build && node bench/audit.mjs [--short]: spans and the audit log, durable by group commit and chained, on the
// agent's thread, as a share of hand-written SDK calls for the spans alone.
//
// Time is CPU time of the main thread. One side a process, and processes take turns; a ratio is one of neighbours. The
// control is the hand-written calls against themselves. Every log is verified, and its rows are counted.
import { pathToFileURL } from "node:url";
import { child, format, judged, median, pairs } from "./processes.mjs";

const BASE = "hand-written";
const GOAL = 2.7;
/** Runs of three calls make eight rows each. */
const SIDES = [
  { name: "hand-written (control)", side: BASE, runs: 683 },
  { name: "bridge without audit", side: "bridge", runs: 683 },
  { name: "all at once", side: "burst", runs: 683, goal: GOAL },
  { name: "all at once", side: "burst", runs: 43, goal: GOAL },
  { name: "agents that wait for each row", side: "agents that wait", runs: 683, goal: GOAL },
];

/** @param short one pair each: shows that it works. @returns one row a side, for `console.table`. */
export async function auditRows({ short }) {
  const rows = [];
  for (const { name, side, runs, goal } of SIDES) {
    // A round is long enough that what disturbs the machine for a moment does not decide it.
    const size = short ? [runs, 3, 700] : [runs, 15, 4_000];
    const made = await pairs(
      short ? 1 : 5,
      () => child("audit/child.mjs", [BASE, ...size]),
      () => child("audit/child.mjs", [side, ...size]),
    );
    const ours = made.map(([, other]) => other);
    const rowsACommit = ours[0].rowsACommit;
    rows.push({
      "spans and audit log": name,
      "runs at once": runs,
      "rows a commit": rowsACommit === undefined ? "" : Math.round(rowsACommit),
      ...judged(
        made.map(([base, other]) => other.thread / base.thread),
        goal,
      ),
      "all threads": format(median(made.map(([base, other]) => other.all / base.all))),
      "us a run": median(ours.map((one) => one.thread)).toFixed(1),
      clock: ours[0].clock,
    });
  }
  return rows;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.table(await auditRows({ short: process.argv.includes("--short") }));
}
