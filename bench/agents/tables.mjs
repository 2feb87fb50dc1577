// The tables of bench/agents.mjs, from the results of each side.
import { median } from "../processes.mjs";
import { FRAMEWORKS, OURS } from "./frameworks.mjs";
import { MARKS } from "./texts.mjs";

/** @returns the median of each round's one / other, with its range. */
function ratioOf(one, other) {
  const each = one.map((value, round) => value / other[round]);
  const two = (value) => value.toFixed(2);
  return {
    ratio: two(median(each)),
    spread: `${two(Math.min(...each))}–${two(Math.max(...each))}`,
  };
}

function cell(one, other) {
  if (other === undefined) return "";
  const { ratio, spread } = ratioOf(one, other);
  return one.length === 1 ? ratio : `${ratio} (${spread})`;
}

const kilobytes = (bytes) => (bytes / 1000).toFixed(1);
const milliseconds = (us) => (us / 1000).toFixed(us < 10_000 ? 2 : 0);

/** @returns the name of a side in tables. @param versionOf the version of a package. */
function titleOf(framework, side, versionOf) {
  const peer = FRAMEWORKS[framework].peers[side];
  return peer === undefined ? OURS[side] : `${peer[0]} ${versionOf(peer[1])}`;
}

/** @param marks that the receiver did not find. */
function contentOf(marks) {
  const parts = marks.map((mark) => mark.replace("-mark", ""));
  return parts.length === MARKS.length ? "all" : parts.join(", ");
}

/** One row a side: a run of a warm process, with its export. */
export function wholeRows(framework, results, versionOf) {
  const values = (side, pick) => results.get(side).map(([one]) => pick(one));
  const cost = (one) => one.cost;
  const beside = (base, side, pick) =>
    base === side || !results.has(base)
      ? ""
      : ratioOf(values(base, pick), values(side, pick)).ratio;
  return [...results.keys()].map((side) => {
    const [[made]] = results.get(side);
    const { spread } = ratioOf(values("ours", cost), values(side, cost));
    return {
      framework: FRAMEWORKS[framework].title,
      instrumentation: titleOf(framework, side, versionOf),
      "CPU, µs a run": Math.round(median(values(side, cost))),
      "ours / it": beside("ours", side, cost),
      spread: side === "ours" ? "" : spread,
      "a span": beside("ours", side, (one) => one.cost / one.spans),
      "a byte": beside("ours", side, (one) => one.cost / one.bytes),
      spans: made.spans,
      "KB sent": kilobytes(made.bytes),
      traces: made.traces,
      "without parent": made.roots,
      "content not sent": contentOf(made.missing),
      ...(results.has("before") ? { "before / it": beside("before", side, cost) } : {}),
    };
  });
}

const BESIDE = {
  own: "/ the framework's own",
  openinference: "/ OpenInference",
  langfuse: "/ Langfuse",
  "no content": "/ content off",
  "new messages": '/ `messages: "new"`',
  before: "/ before",
  control: "/ itself (control)",
};

/** Our spans with `messages: "new"`. */
const NEW = "new messages";
/** Not measured in every run. */
const OPTIONAL = [NEW, "before"];

/** One row a case: how the cost grows with `what`, turns or size. All frameworks have the same columns. */
export function growthRows(framework, results, cases, what) {
  const sides = Object.keys(BESIDE).filter((side) => results.has(side) || !OPTIONAL.includes(side));
  return cases.map((given, at) => {
    const costs = (side) => results.get(side)?.map((all) => all[at].cost);
    const ours = costs("ours");
    const sent = (side) => kilobytes(median(results.get(side).map((all) => all[at].bytes)));
    const peers = Object.keys(FRAMEWORKS[framework].peers).filter((side) => results.has(side));
    const perTurn = (all, n) => all[n].cost / cases[n].turns;
    const ten = cases.findIndex(({ turns }) => turns === 10);
    const grown = () =>
      median(results.get("ours").map((all) => perTurn(all, at) / perTurn(all, ten))).toFixed(2);
    return {
      framework: FRAMEWORKS[framework].title,
      [what]: given[what],
      "ours, ms a run": milliseconds(median(ours)),
      ...(ten < 0 ? {} : { "a turn / at 10 turns": grown() }),
      ...Object.fromEntries(sides.map((side) => [BESIDE[side], cell(ours, costs(side))])),
      "KB sent": sent("ours"),
      ...(results.has(NEW) ? { 'with `"new"`': sent(NEW) } : {}),
      "KB sent by others": peers.map(sent).join(", "),
    };
  });
}

/** One row a side: what the first runs of a process cost above the framework's own work. */
export function coldRows(framework, results, edges, versionOf) {
  const idle = results.get("idle");
  const above = (side, pick) =>
    results.get(side).map((one, round) => pick(one.blocks) - pick(idle[round].blocks));
  const total = (blocks) => blocks.reduce((sum, block) => sum + block, 0);
  const sides = [...results.keys()].filter((side) => side !== "idle");
  return sides.map((side) => {
    const row = {
      framework: FRAMEWORKS[framework].title,
      instrumentation: titleOf(framework, side, versionOf),
      "import and set-up, ms": milliseconds(median(results.get(side).map(({ setup }) => setup))),
    };
    for (const [at, edge] of edges.entries()) {
      const from = (edges[at - 1] ?? 0) + 1;
      const name = from === edge ? `run ${edge}, ms` : `${from}–${edge}, ms a run`;
      row[name] = milliseconds(median(above(side, (blocks) => blocks[at])) / (edge - from + 1));
    }
    row["all, ms"] = milliseconds(median(above(side, total)));
    row["ours / it"] = side === "ours" ? "" : cell(above("ours", total), above(side, total));
    return row;
  });
}

/** One row a number of open runs and a side. */
export function openRows(framework, results, counts, versionOf) {
  const idle = results.get("idle");
  const sides = [...results.keys()].filter((side) => side !== "idle");
  return counts.flatMap((count, at) =>
    sides.map((side) => {
      const above = (pick) =>
        results.get(side).map((all, round) => pick(all[at]) - pick(idle[round][at]));
      return {
        framework: FRAMEWORKS[framework].title,
        "runs at once": count,
        instrumentation: titleOf(framework, side, versionOf),
        "heap of an open run, KB": kilobytes(median(above(({ heap }) => heap))),
        "CPU, µs a run": Math.round(median(above(({ cost }) => cost))),
      };
    }),
  );
}
