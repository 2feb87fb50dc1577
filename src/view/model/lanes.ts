import type { SpanKindName } from "../format.ts";
import { textIn } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";
import type { Wait } from "./waits.ts";

/** A run of an agent with its spans: a row of the overview. */
export interface Lane {
  /** ID of the run, or of the first span if there is no run. */
  readonly id: string;
  readonly agent: string;
  /** Number of runs above it. */
  readonly depth: number;
  /** Its spans without those of sub-agents, by kind, in the order of their start. */
  readonly nodes: ReadonlyMap<SpanKindName, readonly SpanNode[]>;
  readonly waits: readonly Wait[];
  /** Its failures, in the order of their ends. */
  readonly failures: readonly SpanNode[];
}

interface OpenLane extends Lane {
  readonly nodes: Map<SpanKindName, SpanNode[]>;
  readonly waits: Wait[];
  readonly failures: SpanNode[];
}

/** A row of the overview for each run of an agent, in the order of the tree. */
export function lanesOf(
  tree: SpanTree,
  waits: ReadonlyMap<SpanNode, readonly Wait[]>,
  failures: readonly SpanNode[],
): readonly Lane[] {
  const lanes = new Map<string, OpenLane>();
  const laneOf = new Map<SpanNode, OpenLane>();
  for (const node of tree.nodes) {
    const { span, parent } = node;
    const around = parent === undefined ? undefined : laneOf.get(parent);
    const lane =
      span.kind === "run" || around === undefined ? ownLane(node, around, lanes) : around;
    laneOf.set(node, lane);
    const same = lane.nodes.get(span.kind);
    if (same === undefined) lane.nodes.set(span.kind, [node]);
    else same.push(node);
    for (const wait of waits.get(node) ?? []) lane.waits.push(wait);
  }
  for (const failure of failures) laneOf.get(failure)?.failures.push(failure);
  for (const { nodes } of lanes.values()) {
    for (const same of nodes.values()) same.sort((one, other) => one.start - other.start);
  }
  return [...lanes.values()];
}

function ownLane(node: SpanNode, around: Lane | undefined, lanes: Map<string, OpenLane>): OpenLane {
  const { span } = node;
  const id = span.run_id ?? node.id;
  const known = lanes.get(id);
  if (known !== undefined) return known;
  const depth = around === undefined ? 0 : around.depth + 1;
  const agent = textIn(span.attributes, "gen_ai.agent.name") ?? span.name;
  const lane: OpenLane = { id, agent, depth, nodes: new Map(), waits: [], failures: [] };
  lanes.set(id, lane);
  return lane;
}

/** A bar in pixels. */
export interface Bar {
  readonly from: number;
  readonly to: number;
}

/**
 * Spans as bars. Bars that touch are merged, so there is at most one bar for two pixels.
 *
 * @param spans in the order of their start.
 * @param scale time in ms to pixels.
 * @param now end of open spans, in ms.
 */
export function mergedBars(
  spans: Iterable<{ readonly start: number; readonly end: number | undefined }>,
  scale: (time: number) => number,
  now: number,
): readonly Bar[] {
  const bars: { from: number; to: number }[] = [];
  let last: { from: number; to: number } | undefined;
  for (const { start, end } of spans) {
    const from = Math.floor(scale(start));
    const to = Math.max(from + 1, Math.ceil(scale(end ?? Math.max(now, start))));
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else {
      last = { from, to };
      bars.push(last);
    }
  }
  return bars;
}

/** Space between two marks in pixels, so that they do not overlap. */
const BETWEEN_MARKS = 3;

/**
 * Marks at the ends of spans, in pixels. Marks that would overlap are one.
 *
 * @param spans in the order of their ends.
 * @param scale time in ms to pixels.
 * @param now end of open spans, in ms.
 */
export function mergedMarks(
  spans: Iterable<Pick<SpanNode, "end" | "start">>,
  scale: (time: number) => number,
  now: number,
): readonly number[] {
  const marks: number[] = [];
  for (const { end, start } of spans) {
    const at = Math.round(scale(end ?? Math.max(now, start)));
    const last = marks.at(-1);
    if (last === undefined || at - last >= BETWEEN_MARKS) marks.push(at);
  }
  return marks;
}

/**
 * The shortest span at a pixel, else the nearest within a distance.
 *
 * @param scale time in ms to pixels.
 */
export function spanAt(
  spans: Iterable<SpanNode>,
  x: number,
  scale: (time: number) => number,
  now: number,
  within: number,
): SpanNode | undefined {
  let best: SpanNode | undefined;
  let distance = within;
  let length = Number.POSITIVE_INFINITY;
  for (const node of spans) {
    const end = node.end ?? Math.max(now, node.start);
    const away = Math.max(0, scale(node.start) - x, x - scale(end));
    const own = end - node.start;
    if (away > distance || (away === distance && own >= length)) continue;
    best = node;
    distance = away;
    length = own;
  }
  return best;
}
