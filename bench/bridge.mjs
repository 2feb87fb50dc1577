// npm run build && node bench/bridge.mjs [--package DIR] [--rounds N] [--short] [--write]: the bridge without an audit log against
// hand-written SDK calls that make equal spans. `--package` is the folder of another version of this package.
//
// Both take turns in one process; a figure is the median of its rounds, and the median of several processes (bytes: the
// least, since a garbage collection only adds to them). The control is the hand-written calls against themselves.
import { assertEqualSpans } from "./equal.mjs";
import { show } from "./page.mjs";
import { builds, child, format, judged, median, ROUNDS, short } from "./processes.mjs";

const BUILDS = builds();
const BIG_NURSERY = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];
const MEASURES = [
  { name: "time, sampled", what: "time", sampling: "sampled", goal: 1.05, unit: "ns" },
  { name: "bytes allocated, sampled", what: "bytes", sampling: "sampled", goal: 1.1, unit: "B" },
  { name: "time, not sampled", what: "time", sampling: "unsampled", goal: 0.45, unit: "ns" },
];

console.log(`equal spans, ids included: ${assertEqualSpans()} compared`);
const rows = [];
for (const { goal, name, sampling, unit, what } of MEASURES) {
  const isBytes = what === "bytes";
  const size = isBytes ? [7, 1000] : short ? [11, 500] : [41, 2000];
  const flags = isBytes ? BIG_NURSERY : [];
  const pair = (side, folder) => child("pair.mjs", [what, side, sampling, ...size], flags, folder);
  const made = BUILDS.map(() => []);
  const control = [];
  for (let n = 0; n < ROUNDS; n++) {
    for (const [at, { folder }] of BUILDS.entries()) made[at].push(await pair("bridge", folder));
    control.push(await pair("hand-written"));
  }
  for (const [at, { title }] of BUILDS.entries()) {
    const ratios = made[at].map(({ ratio }) => ratio);
    const told = judged(ratios, goal, isBytes ? Math.min(...ratios) : median(ratios));
    const each = `${Math.round(median(made[at].map((one) => one.each)))} ${unit}`;
    rows.push({
      "bridge / hand-written": `${title}${name}`,
      ...told,
      control: format(median(control.map(({ ratio }) => ratio))),
      "a run of 3 calls": each,
    });
  }
}
show("bridge", rows);
