import type { RunDetail, ViewRow } from "../format.ts";
import { failedAndAbove, firstFailure } from "./failures.ts";
import { type Lane, lanesOf } from "./lanes.ts";
import { type Outline, outlineOf } from "./outline.ts";
import { rowsBySpan } from "./span-rows.ts";
import { type SpanNode, type SpanTree, spanTree } from "./span-tree.ts";
import { type Usage, usageUnder } from "./usage.ts";
import { type Wait, waitsOf } from "./waits.ts";

/** The model of the page of a run, computed once for a detail. */
export interface RunModel {
  readonly detail: RunDetail;
  readonly tree: SpanTree;
  readonly outline: Outline;
  readonly waits: ReadonlyMap<SpanNode, readonly Wait[]>;
  readonly lanes: readonly Lane[];
  readonly usage: ReadonlyMap<SpanNode, Usage>;
  readonly rows: ReadonlyMap<SpanNode, readonly ViewRow[]>;
  readonly firstFailure: SpanNode | undefined;
  /** Failed spans and their ancestors. */
  readonly failed: ReadonlySet<SpanNode>;
  /** Spans that failed. */
  readonly failures: number;
}

export function runModel(detail: RunDetail): RunModel {
  const tree = spanTree(detail.spans);
  const waits = waitsOf(tree);
  return {
    detail,
    tree,
    outline: outlineOf(tree),
    waits,
    lanes: lanesOf(tree, waits),
    usage: usageUnder(tree),
    rows: rowsBySpan(tree, detail.rows),
    firstFailure: firstFailure(tree),
    failed: failedAndAbove(tree),
    failures: tree.nodes.filter(({ span }) => span.failed).length,
  };
}

/** An open run is drawn as active until this long after its last event: the default age limit of runs. */
const MAX_OPEN_MS = 86_400_000;

/**
 * The end of the time axis in ms since the origin. For an open run: the present, unless its last event is older than
 * the age limit.
 *
 * @param now Unix time in ms; `undefined`: the data does not change any more.
 */
export function axisEnd({ detail, tree }: RunModel, now: number | undefined): number {
  if (now === undefined || detail.run.end_ns !== null) return tree.lastTime;
  const present = now - Number(tree.originNs) / 1e6;
  return present - tree.lastTime > MAX_OPEN_MS ? tree.lastTime : Math.max(present, tree.lastTime);
}

/** The agent that a span belongs to, by name. */
export function agentOf(node: SpanNode): string {
  if (node.agent !== undefined) return node.agent;
  const own = node.span.attributes["gen_ai.agent.name"];
  return typeof own === "string" ? own : "";
}
