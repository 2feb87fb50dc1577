import type { ViewSpanEvent } from "../format.ts";
import { numberIn, textIn } from "./attributes.ts";
import { ancestorsOf, type SpanNode, type SpanTree, timeSince } from "./span-tree.ts";

/** A time in which people were waited for, in ms since the origin of the tree. */
export interface Wait {
  /** `approval`: of a tool call. `pause`: between two segments of a run. */
  readonly kind: "approval" | "pause";
  readonly start: number;
  readonly end: number;
}

const NONE: readonly Wait[] = [];

/**
 * The waits of each span that has any. Those of a call mostly lie before its span: most runtimes start a
 * call after it was approved. That of a run lies between its segment and the one before.
 */
export function waitsOf(tree: SpanTree): ReadonlyMap<SpanNode, readonly Wait[]> {
  const waits = new Map<SpanNode, readonly Wait[]>();
  const segments = new Map<string, SpanNode>();
  /** Of each segment: since when its calls may have waited. */
  const since = new Map<SpanNode, number>();
  for (const node of tree.nodes) {
    const { kind, run_id = "" } = node.span;
    const last = run_id === "" ? undefined : segments.get(run_id);
    const own = kind === "run" ? pauseOf(node, last) : approvalWait(node, tree, since);
    if (own.length > 0) waits.set(node, own);
    if (kind !== "run") continue;
    segments.set(run_id, node);
    // A run that was silent for too long was given up, while somebody decided.
    const end = own.length > 0 ? undefined : last?.end;
    since.set(node, Math.min(end ?? node.start, node.start));
  }
  return waits;
}

/**
 * A pause before a segment.
 *
 * @param last the segment before: segments come in the order of their start, as they have one parent.
 */
function pauseOf(node: SpanNode, last: SpanNode | undefined): readonly Wait[] {
  const paused = last?.span.attributes["entelix.run.outcome"] === "interrupted";
  if (last?.end === undefined || !paused || node.start <= last.end) return NONE;
  return [{ kind: "pause", start: last.end, end: node.start }];
}

function approvalWait(
  node: SpanNode,
  tree: SpanTree,
  since: ReadonlyMap<SpanNode, number>,
): readonly Wait[] {
  const { attributes, events } = node.span;
  const length = numberIn(attributes, "entelix.approval.wait_ms");
  if (length === undefined || length === 0) return NONE;
  // A rule is no person.
  if (textIn(attributes, "entelix.approval.by") === "policy") return NONE;
  const asked = events.find(({ name }) => name === "entelix.approval_asked");
  if (asked !== undefined) {
    const start = timeSince(tree.originNs, asked.time_ns);
    return [{ kind: "approval", start, end: start + length }];
  }
  const end = decidedAt(node, tree);
  // An adapter may count from a pause of an earlier run: that time is not on this page.
  const run = runOf(node);
  const start = Math.max(end - length, (run && since.get(run)) ?? 0);
  return start < end ? [{ kind: "approval", start, end }] : NONE;
}

/** When a call was decided about: an event of the run, else its refusal, else its start. */
function decidedAt(node: SpanNode, tree: SpanTree): number {
  const { attributes } = node.span;
  const id = textIn(attributes, "gen_ai.tool.call.id");
  const name = textIn(attributes, "gen_ai.tool.name");
  const isOurs = (event: ViewSpanEvent) =>
    event.name === "entelix.approval" &&
    textIn(event.attributes, "gen_ai.tool.call.id") === id &&
    textIn(event.attributes, "gen_ai.tool.name") === name;
  const before = node.end ?? Number.POSITIVE_INFINITY;
  const times = (runOf(node)?.span.events ?? [])
    .filter(isOurs)
    .map(({ time_ns }) => timeSince(tree.originNs, time_ns))
    .filter((time) => time <= before);
  if (times.length > 0) return Math.max(...times);
  const denied = attributes["entelix.approval.outcome"] === "denied";
  return denied ? (node.end ?? node.start) : node.start;
}

function runOf(node: SpanNode): SpanNode | undefined {
  for (const around of ancestorsOf(node)) if (around.span.kind === "run") return around;
  return undefined;
}
