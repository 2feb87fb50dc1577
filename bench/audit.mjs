// npm run build && node bench/audit.mjs [--package DIR] [--rounds N] [--short] [--write]: spans and the audit log, durable by group
// commit and chained, on the agent's thread, relative to hand-written SDK calls for the spans alone.
//
// Time is CPU time of the main thread. One side a process, and processes take turns; a ratio is one of neighbours. The
// control is the hand-written calls against themselves. Every log is verified, and its rows are counted.
import { show } from "./page.mjs";
import { builds, child, format, judged, median, pairs, ROUNDS, short } from "./processes.mjs";

const BUILDS = builds();
const BASE = "hand-written";
/** Runs of three calls make eight rows each. */
const SIDES = [
  { name: "hand-written (control)", side: BASE, runs: 683 },
  { name: "bridge without audit log", side: "bridge", runs: 683 },
  { name: "runs at once", side: "burst", runs: 683, goal: 3.5 },
  { name: "runs at once", side: "burst", runs: 43, goal: 3.5 },
  { name: "agents that wait for each row", side: "agents that wait", runs: 683, goal: 4.5 },
];

const rows = [];
for (const { name, side, runs, goal } of SIDES) {
  // A round is long enough that what disturbs the machine for a moment does not decide it.
  const size = short ? [runs, 1, 700] : [runs, 15, 4_000];
  for (const { folder, title } of side === BASE ? BUILDS.slice(0, 1) : BUILDS) {
    const made = await pairs(
      ROUNDS,
      () => child("audit/child.mjs", [BASE, ...size]),
      () => child("audit/child.mjs", [side, ...size], [], folder),
    );
    const ours = made.map(([, other]) => other);
    const rowsACommit = ours[0].rowsACommit;
    rows.push({
      "spans and audit log": `${title}${name}`,
      "runs at once": runs,
      "rows a commit": rowsACommit === undefined ? "" : Math.round(rowsACommit),
      ...judged(
        made.map(([base, other]) => other.thread / base.thread),
        goal,
      ),
      "all threads": format(median(made.map(([base, other]) => other.all / base.all))),
      "µs a run": median(ours.map((one) => one.thread)).toFixed(1),
    });
  }
}
show("audit", rows);
