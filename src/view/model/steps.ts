import type { SpanKindName } from "../format.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";
import { addUsage, ownUsage, type Usage } from "./usage.ts";
import type { Wait } from "./waits.ts";

/** All calls of one model, tool or step by one agent: a row of the table of costs. */
export interface StepSummary {
  readonly agent: string;
  readonly kind: SpanKindName;
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  /** Sum of their durations in ms. Parallel calls count twice. */
  readonly duration: number;
  /** Sum of their waits for people, in ms. */
  readonly waiting: number;
  /** Tokens and cost of model calls. */
  readonly usage: Usage;
  /** The first of them. */
  readonly first: SpanNode;
}

/** Calls of the agents, by agent, in the order of the first call. Without runs. */
export function stepSummaries(
  tree: SpanTree,
  agentOf: (node: SpanNode) => string,
  waits: ReadonlyMap<SpanNode, readonly Wait[]>,
): readonly StepSummary[] {
  const groups = new Map<string, SpanNode[]>();
  for (const node of tree.nodes) {
    const { kind, name } = node.span;
    if (kind === "run") continue;
    const key = JSON.stringify([agentOf(node), kind, name]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  return [...groups.values()].flatMap((nodes) => {
    const [first] = nodes;
    if (first === undefined) return [];
    const { kind, name } = first.span;
    const allWaits = nodes.flatMap((node) => waits.get(node) ?? []);
    return {
      agent: agentOf(first),
      kind,
      name,
      calls: nodes.length,
      failed: nodes.filter(({ span }) => span.failed).length,
      duration: sum(nodes.map(({ start, end }) => (end ?? start) - start)),
      waiting: sum(allWaits.map(({ start, end }) => end - start)),
      usage: addUsage(nodes.map(({ span }) => ownUsage(span))),
      first,
    };
  });
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
