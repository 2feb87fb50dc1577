import { graphlib, layout } from "@dagrejs/dagre";
import type { GraphEdge, GraphPart, RunGraph } from "../../model/run-graph.ts";

export interface DrawnPart {
  readonly part: GraphPart;
  readonly width: number;
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

/** Sizes in pixels. */
export const PART = { height: 48, padding: 14, least: 120, most: 280 };
const LABEL_HEIGHT = 18;
const MARGIN = 12;

/** Widths of texts in pixels. */
export interface GraphWidths {
  readonly part: (part: GraphPart) => number;
  readonly edge: (edge: GraphEdge) => number;
}

/** Positions of the parts and edges, from left to right. */
export function drawnGraph({ edges, parts }: RunGraph, widths: GraphWidths): DrawnGraph {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 40, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const part of parts) {
    const wanted = widths.part(part) + 2 * PART.padding;
    const width = Math.min(Math.max(wanted, PART.least), PART.most);
    graph.setNode(part.id, { width, height: PART.height });
  }
  for (const edge of edges) {
    const label = { width: widths.edge(edge), height: LABEL_HEIGHT, labelpos: "c" } as const;
    graph.setEdge(edge.from, edge.to, label, edge.kind);
  }
  layout(graph);
  const { height = 0, width = 0 } = graph.graph();
  return {
    width,
    height,
    parts: parts.map((part) => {
      const { width, x, y } = graph.node(part.id);
      return { part, width, x, y };
    }),
    edges: edges.map((edge) => {
      const { points, x, y } = graph.edge(edge.from, edge.to, edge.kind);
      return { edge, points, x, y };
    }),
  };
}
