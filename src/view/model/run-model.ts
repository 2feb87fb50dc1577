import type { RunDetail, ViewRow } from "../format.ts";
import { decisionsBySpan, type RowDecision } from "./decisions.ts";
import { failedAndAbove, failuresIn } from "./failures.ts";
import { type Lane, lanesOf } from "./lanes.ts";
import { rowsBySpan } from "./span-rows.ts";
import { type SpanNode, type SpanTree, spanTree } from "./span-tree.ts";
import { type Usage, usageUnder } from "./usage.ts";
import { type Wait, waitsOf } from "./waits.ts";

/** The model of the page of a run, computed once for a detail. */
export interface RunModel {
  readonly detail: RunDetail;
  readonly tree: SpanTree;
  readonly waits: ReadonlyMap<SpanNode, readonly Wait[]>;
  readonly lanes: readonly Lane[];
  readonly usage: ReadonlyMap<SpanNode, Usage>;
  readonly rows: ReadonlyMap<SpanNode, readonly ViewRow[]>;
  readonly decisions: ReadonlyMap<SpanNode, RowDecision>;
  /** In the order of their ends, without spans that failed because of another. */
  readonly failures: readonly SpanNode[];
  /** Failed spans and their ancestors. */
  readonly failed: ReadonlySet<SpanNode>;
}

export function runModel(detail: RunDetail): RunModel {
  const steps = runModelSteps(detail);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Makes the model in steps: a page with many spans can draw and react in between. */
export function* runModelSteps(detail: RunDetail): Generator<void, RunModel, void> {
  const tree = spanTree(detail.spans);
  yield;
  const waits = waitsOf(tree);
  const failures = failuresIn(tree);
  yield;
  const lanes = lanesOf(tree, waits, failures);
  const usage = usageUnder(tree);
  yield;
  return {
    detail,
    tree,
    waits,
    lanes,
    usage,
    rows: rowsBySpan(tree, detail.rows),
    decisions: decisionsBySpan(tree, detail.rows),
    failures,
    failed: failedAndAbove(tree),
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
