// npm run build && node bench/open-runs.mjs [--package DIR] [--rounds N] [--short] [--write]: what runs that stay open cost, in memory and in the time of
// others' events, and whether that grows with their number, with the length of one run, and with depth.
//
// Time is CPU time of the main thread. Crowds are one a process, and processes take turns; a ratio is one of
// neighbours, against a crowd of 1,000. The control is that crowd against itself.
import { show } from "./page.mjs";
import { builds, child, format, judged, median, pairs, ROUNDS, short } from "./processes.mjs";

const BUILDS = builds();
const CROWD_GOALS = new Map([
  [10_000, 1.5],
  [100_000, 2.5],
]);

/** The tables by name, each as soon as it is measured. */
async function* tables() {
  const open = short ? 10_000 : 100_000;
  const heap = [];
  for (const [sampling, goal] of [
    ["span", undefined],
    ["sampled", 1.6],
    ["unsampled", 0.9],
  ]) {
    for (const { folder, title } of sampling === "span" ? BUILDS.slice(0, 1) : BUILDS) {
      const flags = ["--expose-gc"];
      const { bytes } = await child("open-runs/heap.mjs", [sampling, open], flags, folder);
      heap.push({
        "heap of an open run": `${title}${sampling === "span" ? "its span alone, by hand" : sampling}`,
        open,
        bytes: Math.round(bytes),
        goal: goal === undefined ? "" : `<= ${goal * 1000}`,
        reached: goal === undefined ? "" : bytes <= goal * 1000 ? "yes" : "no",
      });
    }
  }
  yield ["open-heap", heap];

  const [runs, limit] = short ? [20_000, 100] : [1_000_000, 10_000];
  const flat = await child("heap.mjs", [runs, limit], ["--expose-gc"]);
  const never = {
    "runs, 1 in 100 never ended": runs,
    "MB grown": (flat.grown / 1e6).toFixed(2),
    goal: "<= 1",
    reached: flat.grown <= 1e6 ? "yes" : "no",
    open: flat.open,
    limit,
  };
  yield ["open-limit", [never]];
  if (flat.open > limit || flat.grown > 4e6) {
    console.error("bench: the state of open runs is not bounded");
    process.exitCode = 1;
  }

  const crowds = short ? [10_000] : [1_000, 10_000, 100_000, 1_000_000];
  const calls = short ? 10_000 : 100_000;
  const crowd = (sampling, open) =>
    child("open-runs/crowd.mjs", [sampling, open, calls], ["--max-old-space-size=6144"]);
  const rows = [];
  for (const sampling of short ? ["sampled"] : ["sampled", "unsampled"]) {
    for (const open of crowds) {
      // Most of that time would go into opening them.
      if (open === 1_000_000 && sampling === "unsampled") continue;
      const made = await pairs(
        ROUNDS,
        () => crowd(sampling, 1_000),
        () => crowd(sampling, open),
      );
      rows.push({
        "a tool call while so many runs are open": open === 1_000 ? "1000 (control)" : open,
        sampling,
        ...judged(
          made.map(([base, other]) => other.thread / base.thread),
          CROWD_GOALS.get(open),
        ),
        "all threads": format(median(made.map(([base, other]) => other.all / base.all))),
        "µs a call": median(made.map(([, other]) => other.thread)).toFixed(2),
      });
    }
  }
  yield ["open-crowd", rows];

  // Call ids are remembered up to a limit of 10,000: before that a call is cheaper, from there on it is to be flat.
  const long = [];
  for (let n = 0; n < ROUNDS; n++) {
    long.push(await child("open-runs/length.mjs", [short ? 20_000 : 400_000]));
  }
  const lengths = long[0].at.map(({ calls: at }, n) => ({
    "a tool call after so many in its run": at,
    ...judged(
      long.map((one) => one.at[n].ratio / one.at[0].ratio),
      n === 0 ? undefined : 1.1,
    ),
    "/ in a fresh run": format(median(long.map((one) => one.at[n].ratio))),
    "µs a call": median(long.map((one) => one.at[n].each)).toFixed(2),
  }));
  yield ["open-length", lengths];

  const depths = [];
  for (const deep of short ? [10, 1_000] : [10, 100, 1_000]) {
    const made = [];
    for (let n = 0; n < ROUNDS; n++) {
      made.push(await child("open-runs/depth.mjs", [deep, short ? 4 : 60]));
    }
    depths.push({
      "a run nested in so many": deep === 10 ? "10 (control)" : deep,
      ...judged(made.map(({ ratio }) => ratio)),
      "µs a run": median(made.map(({ each }) => each)).toFixed(2),
    });
  }
  yield ["open-depth", depths];
}

for await (const [name, rows] of tables()) show(name, rows);
