import { useMemo } from "preact/hooks";
import { count, counted, cut, safe } from "../../../events/format/door.ts";
import { fitText } from "../../model/fit-text.ts";
import { type GraphEdge, type GraphPart, runGraph } from "../../model/run-graph.ts";
import type { RunModel } from "../../model/run-model.ts";
import { failedText } from "../../model/span-words.ts";
import { LinkText, Text } from "../shell/text.tsx";
import { textWidth } from "../shell/text-width.ts";
import {
  type DrawnEdge,
  type DrawnPart,
  drawnGraph,
  type GraphWidths,
  PART,
} from "./graph-layout.ts";
import { SpanLink, spanAddress } from "./span-link.tsx";

export interface GraphViewProps {
  readonly model: RunModel;
  readonly query: URLSearchParams;
}

/** Agents, tools and handoffs as a picture, and the same as a table. */
export function GraphView({ model, query }: GraphViewProps) {
  const graph = useMemo(() => runGraph(model.tree), [model]);
  const drawn = useMemo(() => drawnGraph(graph, WIDTHS), [graph]);
  const { key } = model.detail.run;
  const address = ({ first }: GraphPart) =>
    first === undefined ? undefined : spanAddress(key, query, first);
  return (
    <section aria-label="Graph of agents and tools">
      {graph.leftOut > 0 && (
        <p class="note plain">
          {counted(graph.leftOut, "tool or agent", "tools and agents")} left out, the rarest.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="graph scroll-x" tabIndex={0}>
        {/* biome-ignore lint/a11y/useSemanticElements: SVG has no element for it */}
        <svg
          aria-label="Graph: the table below has the same"
          height={drawn.height}
          role="group"
          width={drawn.width}
        >
          <defs>
            <marker
              id="graph-arrow"
              markerHeight="10"
              markerUnits="userSpaceOnUse"
              markerWidth="10"
              orient="auto-start-reverse"
              refX="9"
              refY="5"
              viewBox="0 0 10 10"
            >
              <path class="arrow" d="M0 0 10 5 0 10z" />
            </marker>
          </defs>
          {drawn.edges.map((edge) => (
            <Edge key={`${edge.edge.from} ${edge.edge.to} ${edge.edge.kind}`} drawn={edge} />
          ))}
          {drawn.parts.map((part) => (
            <Part address={address(part.part)} key={part.part.id} drawn={part} />
          ))}
        </svg>
      </div>
      <EdgeTable edges={graph.edges} model={model} parts={graph.parts} query={query} />
    </section>
  );
}

/** Fonts in rem, as in graph.css. */
const NAME_FONT = 0.9375;
const SMALL_FONT = 0.8125;
/** Space on both sides of the label of an edge, in pixels. */
const BESIDE_LABEL = 6;

const smallWidth = (text: string) => textWidth(text, SMALL_FONT);
const nameWidth = (text: string) => textWidth(text, NAME_FONT);

const WIDTHS: GraphWidths = {
  part: (part) => Math.max(nameWidth(nameOf(part)), smallWidth(partText(part))),
  edge: (edge) => smallWidth(edgeText(edge)) + 2 * BESIDE_LABEL,
};

function nameOf({ name }: GraphPart): string {
  return safe(cut(name, 200).text);
}

function Edge({ drawn }: { readonly drawn: DrawnEdge }) {
  const { edge, points, x, y } = drawn;
  const d = points.map((point, at) => `${at === 0 ? "M" : "L"}${point.x} ${point.y}`).join("");
  const text = edgeText(edge);
  const width = WIDTHS.edge(edge);
  return (
    <g class={`edge ${edge.kind}${edge.failed > 0 ? " failed" : ""}`}>
      <path d={d} marker-end="url(#graph-arrow)" />
      <rect height={16} width={width} x={x - width / 2} y={y - 8} />
      <text text-anchor="middle" x={x} y={y + 4}>
        {text}
      </text>
    </g>
  );
}

function edgeText({ count: number, failed, kind }: GraphEdge): string {
  const times = `×${count(number)}`;
  if (kind === "handoff") return `handoff ${times}`;
  return failed === 0 ? times : `${times}, ✕ ${count(failed)}`;
}

function Part({
  address,
  drawn,
}: {
  readonly drawn: DrawnPart;
  readonly address: string | undefined;
}) {
  const { part, width, x, y } = drawn;
  const name = nameOf(part);
  const room = width - PART.padding;
  const failed = part.failed > 0 ? ` failed` : "";
  const content = (
    <g class={`part ${part.kind}${failed}`}>
      <title>{name}</title>
      <rect
        height={PART.height}
        rx={part.kind === "agent" ? 16 : 2}
        width={width}
        x={x - width / 2}
        y={y - PART.height / 2}
      />
      <text text-anchor="middle" x={x} y={y - 3}>
        {fitText(name, room, nameWidth)}
      </text>
      <text class="small" text-anchor="middle" x={x} y={y + 14}>
        {fitText(partText(part), room, smallWidth)}
      </text>
    </g>
  );
  if (address === undefined) return content;
  return <a href={address}>{content}</a>;
}

function partText({ count: number, failed, kind }: GraphPart): string {
  const times = kind === "agent" ? counted(number, "run") : counted(number, "call");
  const what = kind === "agent" ? "agent" : "tool";
  // An agent that only a handoff names has no run.
  if (number === 0) return what;
  return `${what}, ${times}${failed === 0 ? "" : `, ✕ ${failedText(failed)}`}`;
}

interface EdgeTableProps extends GraphViewProps {
  readonly edges: readonly GraphEdge[];
  readonly parts: readonly GraphPart[];
}

function EdgeTable({ edges, model, parts, query }: EdgeTableProps) {
  if (edges.length === 0) return <p class="muted">The run called no tool and no other agent.</p>;
  const byId = new Map(parts.map((part) => [part.id, part]));
  const link = (id: string) => {
    const part = byId.get(id);
    if (part === undefined) return null;
    if (part.first === undefined) return <Text limit={60} value={part.name} />;
    return (
      <SpanLink node={part.first} query={query} runKey={model.detail.run.key}>
        <LinkText value={part.name} />
      </SpanLink>
    );
  };
  return (
    <table class="edges">
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">What</th>
          <th class="number" scope="col">
            Times
          </th>
          <th class="number" scope="col">
            Failed
          </th>
        </tr>
      </thead>
      <tbody>
        {edges.map(({ count: number, failed, from, kind, to }) => (
          <tr key={`${from} ${to} ${kind}`}>
            <td>{link(from)}</td>
            <td>{link(to)}</td>
            <td>{kind === "handoff" ? "handoff" : "call"}</td>
            <td class="number">{count(number)}</td>
            <td class="number">{failed === 0 ? "" : `✕ ${count(failed)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
