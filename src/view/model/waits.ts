import type { ViewAttributes } from "../format.ts";
import { numberIn, textIn } from "./attributes.ts";
import { type SpanNode, type SpanTree, timeSince } from "./span-tree.ts";

/** A wait for people, in ms since the origin of the tree. */
export interface Wait {
  /** `approval`: for a decision about a tool call. `pause`: between two segments of a run. */
  readonly kind: "approval" | "pause";
  readonly start: number;
  readonly end: number;
}

const NONE: readonly Wait[] = [];
/** Waits are whole ms, and spans have times of different clocks. */
const ROUNDING_MS = 1;

/**
 * Waits by span. The wait of a call is mostly before its span: most runtimes start a call after its approval. The wait
 * of a run is between its segment and the one before.
 */
export function waitsOf(tree: SpanTree): ReadonlyMap<SpanNode, readonly Wait[]> {
  const waits = new Map<SpanNode, readonly Wait[]>();
  const segments = new Map<string, SpanNode>();
  const begins = new Map<SpanNode, Begin>();
  const decisions = new Decisions(tree);
  for (const node of tree.nodes) {
    const { kind, run_id = "" } = node.span;
    const last = run_id === "" ? undefined : segments.get(run_id);
    const own = kind === "run" ? pauseOf(node, last) : approvalWait(node, tree, begins, decisions);
    if (own.length > 0) waits.set(node, own);
    if (kind !== "run") continue;
    segments.set(run_id, node);
    const isContinued = own.length > 0;
    const end = isContinued ? undefined : last?.end;
    const isRevived = end !== undefined && end < node.start;
    begins.set(node, { at: isRevived ? end : node.start, isContinued, isRevived });
  }
  return waits;
}

/** How a segment of a run began. */
interface Begin {
  /** Earliest start of a wait in it. */
  readonly at: number;
  /** After a pause, which is a wait of the run. */
  readonly isContinued: boolean;
  /** The run had been given up while a person decided. */
  readonly isRevived: boolean;
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
  { originNs }: SpanTree,
  begins: ReadonlyMap<SpanNode, Begin>,
  decisions: Decisions,
): readonly Wait[] {
  const { attributes, events } = node.span;
  const length = numberIn(attributes, "entelix.approval.wait_ms");
  if (length === undefined || length === 0) return NONE;
  // Decisions by a policy are not waits.
  if (textIn(attributes, "entelix.approval.by") === "policy") return NONE;
  const asked = events.find(({ name }) => name === "entelix.approval_asked");
  if (asked !== undefined) {
    const start = timeSince(originNs, asked.time_ns);
    return [{ kind: "approval", start, end: start + length }];
  }
  const end = decidedAt(node, decisions);
  const { at, isContinued, isRevived } = (node.run && begins.get(node.run)) ?? NO_BEGIN;
  if (!isRevived && end - length < at - ROUNDING_MS) {
    // The wait ended with the start of the run that resumed. A pause of the same run is shown already.
    return isContinued ? NONE : [{ kind: "approval", start: at - length, end: at }];
  }
  const start = Math.max(end - length, at);
  return start < end ? [{ kind: "approval", start, end }] : NONE;
}

const NO_BEGIN: Begin = { at: 0, isContinued: false, isRevived: true };

/** Time of the decision about a call: an event of the run, else its refusal, else its start. */
function decidedAt(node: SpanNode, decisions: Decisions): number {
  const before = node.end ?? Number.POSITIVE_INFINITY;
  const decided = node.run && decisions.last(node.run, callKey(node.span.attributes), before);
  if (decided !== undefined) return decided;
  const denied = node.span.attributes["entelix.approval.outcome"] === "denied";
  return denied ? (node.end ?? node.start) : node.start;
}

/** Times of decisions from the events of runs. The events of a run are read once, not for each call. */
class Decisions {
  readonly #tree: SpanTree;
  readonly #runs = new Map<SpanNode, ReadonlyMap<string, readonly number[]>>();

  constructor(tree: SpanTree) {
    this.#tree = tree;
  }

  /** The latest decision about a call up to a time. */
  last(run: SpanNode, call: string, before: number): number | undefined {
    let known = this.#runs.get(run);
    if (known === undefined) {
      known = this.#read(run);
      this.#runs.set(run, known);
    }
    const times = known.get(call) ?? [];
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? 0) <= before) low = middle + 1;
      else high = middle;
    }
    return times[low - 1];
  }

  #read(run: SpanNode): ReadonlyMap<string, readonly number[]> {
    const calls = new Map<string, number[]>();
    for (const { attributes, name, time_ns } of run.span.events) {
      if (name !== "entelix.approval") continue;
      const key = callKey(attributes);
      const time = timeSince(this.#tree.originNs, time_ns);
      const known = calls.get(key);
      if (known === undefined) calls.set(key, [time]);
      else known.push(time);
    }
    for (const times of calls.values()) times.sort((one, other) => one - other);
    return calls;
  }
}

function callKey(attributes: ViewAttributes): string {
  const id = textIn(attributes, "gen_ai.tool.call.id");
  return JSON.stringify([id, textIn(attributes, "gen_ai.tool.name")]);
}
