import { attributeText, type FinishedSpan } from "../../otel/replay/finished-span.ts";
import { duration } from "../terminal/figures.ts";
import type { Output, Style } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";
import { cutToWidth, padToWidth, widthOf } from "../terminal/text-width.ts";
import { outcomeOf, type SpanOutcome } from "./span-outcome.ts";
import { type TraceNode, toForest } from "./trace-forest.ts";

const SIGN: Record<SpanOutcome["tone"], string> = { good: "✓", bad: "✗", other: "•" };
const COLOUR: Record<SpanOutcome["tone"], Style> = { good: "green", bad: "red", other: "yellow" };

interface Row {
  /** The branches and the span's name. */
  readonly tree: string;
  readonly time: string;
  readonly outcome: SpanOutcome;
}

/** One trace as a tree, a line a span, cut to the terminal's columns. */
export function traceLines(spans: readonly FinishedSpan[], output: Output): string[] {
  const rows: Row[] = [];
  for (const root of toForest(spans)) addRows(root, "", "", rows);
  const treeWidth = Math.max(0, ...rows.map((row) => widthOf(row.tree)));
  const timeWidth = Math.max(0, ...rows.map((row) => widthOf(row.time)));
  const most = Math.min(treeWidth, Math.max(Math.floor(output.columns / 2), 12));
  return rows.map(({ tree, time, outcome }) => {
    const name = padToWidth(cutToWidth(tree, most), most);
    const left = `${name}  ${" ".repeat(timeWidth - widthOf(time))}${time}  `;
    const right = `${SIGN[outcome.tone]} ${outcome.words}`;
    const said = outcome.message === "" ? "" : ` "${outcome.message}"`;
    const room = output.columns - widthOf(left);
    const shown = cutToWidth(right, room);
    return `${left}${output.style(COLOUR[outcome.tone], shown)}${output.style("dim", cutToWidth(said, room - widthOf(shown)))}`.trimEnd();
  });
}

/** Which trace it is, whose, and the run at its top. */
export function traceHeading(spans: readonly FinishedSpan[], output: Output): string {
  const [first] = toForest(spans);
  if (first === undefined) return "";
  const { span } = first;
  const tenant = safe(attributeText(span, "entelix.tenant_id"));
  const run = safe(attributeText(span, "entelix.run_id"));
  // The usual case: from a run id to its trace there is nothing to look up.
  const same = run.replaceAll("-", "").toLowerCase() === span.traceId;
  const title = `trace ${span.traceId}`;
  const rest = cutToWidth(
    same ? `  tenant ${tenant}` : `  tenant ${tenant}, run ${run}`,
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
