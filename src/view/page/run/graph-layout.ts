import { graphlib, layout } from "@dagrejs/dagre";
import type { GraphEdge, GraphPart, RunGraph } from "../../model/run-graph.ts";

export interface DrawnPart {
  readonly part: GraphPart;
  /** Middle, in pixels. */
  readonly x: number;
  readonly y: number;
}

export interface DrawnEdge {
  readonly edge: GraphEdge;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** Middle of its label. */
  readonly x: number;
  readonly y: number;
}

export interface DrawnGraph {
  readonly width: number;
  readonly height: number;
  readonly parts: readonly DrawnPart[];
  readonly edges: readonly DrawnEdge[];
}

/** Size of a part in pixels. */
export const PART = { width: 172, height: 48 };
const LABEL = { width: 86, height: 18 };
const MARGIN = 12;

/** Positions of the parts and edges, from left to right. */
export function drawnGraph({ edges, parts }: RunGraph): DrawnGraph {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 40, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of parts) graph.setNode(id, { ...PART });
  for (const { from, kind, to } of edges) {
    graph.setEdge(from, to, { ...LABEL, labelpos: "c" }, kind);
  }
  layout(graph);
  const { height = 0, width = 0 } = graph.graph();
  return {
    width,
    height,
    parts: parts.map((part) => {
      const { x, y } = graph.node(part.id);
      return { part, x, y };
    }),
    edges: edges.map((edge) => {
      const { points, x, y } = graph.edge(edge.from, edge.to, edge.kind);
      return { edge, points, x, y };
    }),
  };
}
