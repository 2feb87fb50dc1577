import { attributeText, type FinishedSpan } from "../../bridge/door.ts";
import { compareInstants } from "../../events/door.ts";
import { highest } from "../../events/format/door.ts";
import type { Output, Style } from "../terminal/output.ts";
import { duration } from "../terminal/table.ts";
import { cutToWidth, padToWidth, safe, widthOf } from "../terminal/text.ts";
import { outcomeOf, type SpanOutcome } from "./span-outcome.ts";

const SIGN: Record<SpanOutcome["tone"], string> = { good: "✓", bad: "✗", other: "•" };
const COLOUR: Record<SpanOutcome["tone"], Style> = { good: "green", bad: "red", other: "yellow" };

interface Row {
  /** Branches of the tree and name of the span. */
  readonly tree: string;
  readonly time: string;
  readonly outcome: SpanOutcome;
}

/** A trace for a person: a heading, then a tree with one line per span, cut to the terminal's width. */
export function traceText(spans: readonly FinishedSpan[], output: Output): string[] {
  return [traceHeading(spans, output), ...traceLines(spans, output)];
}

function traceLines(spans: readonly FinishedSpan[], output: Output): string[] {
  const rows: Row[] = [];
  for (const root of toForest(spans)) addRows(root, "", "", rows);
  const treeWidth = highest(rows.map((row) => widthOf(row.tree)));
  const timeWidth = highest(rows.map((row) => widthOf(row.time)));
  const most = Math.min(treeWidth, Math.max(Math.floor(output.columns / 2), 12));
  return rows.map(({ tree, time, outcome }) => {
    const name = padToWidth(cutToWidth(tree, most), most);
    const left = `${name}  ${" ".repeat(timeWidth - widthOf(time))}${time}  `;
    const right = `${SIGN[outcome.tone]} ${outcome.words}`;
    const message = outcome.message === "" ? "" : ` "${outcome.message}"`;
    const room = output.columns - widthOf(left);
    const shown = cutToWidth(right, room);
    return `${left}${output.style(COLOUR[outcome.tone], shown)}${output.style("dim", cutToWidth(message, room - widthOf(shown)))}`.trimEnd();
  });
}

/** Trace ID, tenant, and the run at the root where its ID differs from the trace ID. */
function traceHeading(spans: readonly FinishedSpan[], output: Output): string {
  const [first] = toForest(spans);
  if (first === undefined) return "";
  const { span } = first;
  const tenant = safe(attributeText(span, "entelix.tenant_id"));
  const run = safe(attributeText(span, "entelix.run_id"));
  // The usual case: the trace ID is the run ID.
  const same = run.replaceAll("-", "").toLowerCase() === span.traceId;
  const title = `trace ${span.traceId}`;
  // Spans of other instrumentation have neither.
  const known = [
    ...(tenant === "" ? [] : [`tenant ${tenant}`]),
    ...(same || run === "" ? [] : [`run ${run}`]),
  ];
  const rest = cutToWidth(
    known.length === 0 ? "" : `  ${known.join(", ")}`,
    output.columns - title.length,
  );
  return output.style("bold", title) + output.style("dim", rest);
}

function addRows(node: TraceNode, before: string, beforeChildren: string, rows: Row[]): void {
  const { span, children } = node;
  rows.push({
    tree: before + safe(span.name),
    time: duration(span.start, span.end),
    outcome: outcomeOf(span),
  });
  for (const [at, child] of children.entries()) {
    const last = at === children.length - 1;
    const branch = beforeChildren + (last ? "└─ " : "├─ ");
    addRows(child, branch, beforeChildren + (last ? "   " : "│  "), rows);
  }
}

/** A span with its child spans in the order of their start. */
interface TraceNode {
  readonly span: FinishedSpan;
  readonly children: TraceNode[];
}

/** Spans as trees. A span without its parent is a root. */
function toForest(spans: readonly FinishedSpan[]): TraceNode[] {
  const nodes = spans.map((span): TraceNode => ({ span, children: [] }));
  const byId = new Map(nodes.map((node) => [`${node.span.traceId}/${node.span.spanId}`, node]));
  const parents = new Map<TraceNode, TraceNode>();
  const roots: TraceNode[] = [];
  for (const node of nodes) {
    const { traceId, parentSpanId } = node.span;
    const parent = parentSpanId === undefined ? undefined : byId.get(`${traceId}/${parentSpanId}`);
    // Spans from outside may form a cycle.
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

/** Collects spans by trace. Spans above the limits are dropped. Default: no limits. */
export class TraceSample {
  readonly #mostTraces: number;
  readonly #mostSpans: number;
  readonly #traces = new Map<string, FinishedSpan[]>();

  constructor(mostTraces = Number.POSITIVE_INFINITY, mostSpans = Number.POSITIVE_INFINITY) {
    this.#mostTraces = mostTraces;
    this.#mostSpans = mostSpans;
  }

  add(span: FinishedSpan): void {
    const spans = this.#traces.get(span.traceId);
    if (spans !== undefined) {
      if (spans.length < this.#mostSpans) spans.push(span);
    } else if (this.#traces.size < this.#mostTraces) this.#traces.set(span.traceId, [span]);
  }

  /** In the order in which the first span of each trace ended. */
  get traces(): readonly (readonly FinishedSpan[])[] {
    return [...this.#traces.values()];
  }

  /** Number of collected spans. */
  get spans(): number {
    return this.traces.reduce((sum, spans) => sum + spans.length, 0);
  }
}
