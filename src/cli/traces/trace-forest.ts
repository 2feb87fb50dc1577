import { compareInstants } from "../../events/instant.ts";
import type { FinishedSpan } from "../../otel/replay/finished-span.ts";

/** A span with those under it, in the order of their start. */
export interface TraceNode {
  readonly span: FinishedSpan;
  readonly children: TraceNode[];
}

/** Spans as trees. A span whose parent is not among them is a root. */
export function toForest(spans: readonly FinishedSpan[]): TraceNode[] {
  const nodes = spans.map((span): TraceNode => ({ span, children: [] }));
  const byId = new Map(nodes.map((node) => [`${node.span.traceId}/${node.span.spanId}`, node]));
  const parents = new Map<TraceNode, TraceNode>();
  const roots: TraceNode[] = [];
  for (const node of nodes) {
    const { traceId, parentSpanId } = node.span;
    const parent = parentSpanId === undefined ? undefined : byId.get(`${traceId}/${parentSpanId}`);
    // Runs can name each other as their parent.
    if (parent === undefined || isUnder(parent, node, parents)) {
      roots.push(node);
      continue;
    }
    parents.set(node, parent);
    parent.children.push(node);
  }
  for (const node of nodes) node.children.sort(byStart);
  return roots.sort(byStart);
}

function isUnder(
  node: TraceNode,
  above: TraceNode,
  parents: ReadonlyMap<TraceNode, TraceNode>,
): boolean {
  for (let at: TraceNode | undefined = node; at !== undefined; at = parents.get(at)) {
    if (at === above) return true;
  }
  return false;
}

function byStart(a: TraceNode, b: TraceNode): number {
  return compareInstants(a.span.start, b.span.start) || (a.span.spanId < b.span.spanId ? -1 : 1);
}
