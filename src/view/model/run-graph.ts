import { textIn } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

/** An agent or a tool that took part in a run. */
export interface GraphPart {
  readonly id: string;
  readonly kind: "agent" | "tool";
  readonly name: string;
  /** Runs of the agent, or calls of the tool. */
  readonly count: number;
  readonly failed: number;
  /** The first of them. Absent for an agent that only a handoff names. */
  readonly first?: SpanNode;
}

/** A relation between two parts. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** `calls`: a tool, or a sub-agent. `handoff`: control was passed on. */
  readonly kind: "calls" | "handoff";
  readonly count: number;
  readonly failed: number;
}

/** The calls and handoffs of a run. */
export interface RunGraph {
  readonly parts: readonly GraphPart[];
  readonly edges: readonly GraphEdge[];
  /** Number of parts that were left out, the rarest ones: the layout of many takes long. */
  readonly leftOut: number;
}

/** Most agents and tools of a graph. */
export const MAX_GRAPH_PARTS = 150;

type Open<T> = { -readonly [name in keyof T]: T[name] };

/** Agents are one part by name; a tool is a part of each agent that calls it. */
export function runGraph(tree: SpanTree): RunGraph {
  const parts = new Map<string, Open<GraphPart>>();
  const edges = new Map<string, Open<GraphEdge>>();
  /** The part of each span: the agent or tool that it is, or that it is under. */
  const idOf = new Map<SpanNode, string>();
  /** Runs that have begun, by agent: other segments and runs that resume them are not further calls. */
  const begun = new Set<string>();
  for (const node of tree.nodes) {
    const { parent, span } = node;
    const around = parent && idOf.get(parent);
    if (span.kind !== "run" && span.kind !== "tool") {
      if (around !== undefined) idOf.set(node, around);
      continue;
    }
    const part = span.kind === "run" ? agentPart(span.name, node) : toolPart(node, around);
    idOf.set(node, part.id);
    const failed = span.failed ? 1 : 0;
    const key = runKey(part, span.run_id);
    const isSegment = span.kind === "run" && begun.has(key);
    const isResumed = begun.has(runKey(part, textIn(span.attributes, "entelix.run.resumed_from")));
    if (span.kind === "run" && span.run_id !== undefined) begun.add(key);
    const known = parts.get(part.id);
    if (known === undefined) parts.set(part.id, { ...part, count: 1, failed });
    else {
      if (!isSegment) known.count++;
      known.failed += failed;
      known.first ??= node;
    }
    const calls = isSegment || isResumed ? 0 : 1;
    const handed = textIn(span.attributes, "entelix.handoff.from");
    if (handed === undefined && around !== undefined && around !== part.id)
      addEdge(edges, around, part.id, "calls", calls, failed);
    const handoffs = handoffsIn(node);
    if (handed !== undefined) handoffs.push([agentNamed(handed), part, calls]);
    for (const [from, to, times] of handoffs) {
      for (const agent of [from, to]) {
        if (!parts.has(agent.id)) parts.set(agent.id, { ...agent, count: 0, failed: 0 });
      }
      addEdge(edges, from.id, to.id, "handoff", times, 0);
    }
  }
  return bounded([...parts.values()], [...edges.values()]);
}

type Part = Omit<GraphPart, "count" | "failed">;

function agentPart(spanName: string, node: SpanNode): Part {
  const name = textIn(node.span.attributes, "gen_ai.agent.name") ?? spanName;
  return { ...agentNamed(name), first: node };
}

function agentNamed(name: string): Part {
  return { id: JSON.stringify(["agent", name]), kind: "agent", name };
}

function toolPart(node: SpanNode, around: string | undefined): Part {
  const name = textIn(node.span.attributes, "gen_ai.tool.name") ?? node.span.name;
  return { id: JSON.stringify(["tool", around, name]), kind: "tool", name, first: node };
}

function runKey({ id }: Part, runId: string | undefined): string {
  return JSON.stringify([id, runId]);
}

/** A run has an event for each handoff that it made, or names the agent that handed control to it. */
function handoffsIn({ span }: SpanNode): (readonly [from: Part, to: Part, times: number])[] {
  return span.events.flatMap(({ attributes, name }) => {
    if (name !== "entelix.handoff") return [];
    const from = textIn(attributes, "entelix.handoff.from");
    const to = textIn(attributes, "entelix.handoff.to");
    if (from === undefined || to === undefined) return [];
    return [[agentNamed(from), agentNamed(to), 1] as const];
  });
}

function addEdge(
  edges: Map<string, Open<GraphEdge>>,
  from: string,
  to: string,
  kind: GraphEdge["kind"],
  count: number,
  failed: number,
): void {
  const key = JSON.stringify([from, to, kind]);
  const known = edges.get(key);
  if (known === undefined) edges.set(key, { from, to, kind, count: Math.max(1, count), failed });
  else {
    known.count += count;
    known.failed += failed;
  }
}

function bounded(parts: readonly GraphPart[], edges: readonly GraphEdge[]): RunGraph {
  if (parts.length <= MAX_GRAPH_PARTS) return { parts, edges, leftOut: 0 };
  const shown = [...parts]
    .sort((one, other) => other.failed - one.failed || other.count - one.count)
    .slice(0, MAX_GRAPH_PARTS);
  const ids = new Set(shown.map(({ id }) => id));
  return {
    parts: parts.filter(({ id }) => ids.has(id)),
    edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)),
    leftOut: parts.length - shown.length,
  };
}
