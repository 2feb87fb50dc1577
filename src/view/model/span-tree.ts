import type { ViewSpan } from "../format.ts";

/** A span in the tree of its run, with its times as numbers. */
export interface SpanNode {
  /** Unique ID in the tree: the span ID, with a number if two spans have the same ID. */
  readonly id: string;
  readonly span: ViewSpan;
  readonly parent: SpanNode | undefined;
  /** The nearest run above it. */
  readonly run: SpanNode | undefined;
  /** The agent of the nearest run that names one, itself or above. */
  readonly agent: string | undefined;
  /** In the order of their start. */
  readonly children: readonly SpanNode[];
  /** In ms since {@link SpanTree.originNs}. */
  readonly start: number;
  /** In ms since the origin, never before the start; `undefined`: it is open. */
  readonly end: number | undefined;
}

/** The spans of a run and of everything under it. */
export interface SpanTree {
  /** The earliest start: Unix time in ns. All times of nodes count from here. */
  readonly originNs: bigint;
  /** The latest time that a span or an event names, in ms since the origin. */
  readonly lastTime: number;
  /** Spans whose parent is absent, and one of each cycle. */
  readonly roots: readonly SpanNode[];
  /** Every node, a parent before its children. */
  readonly nodes: readonly SpanNode[];
  /** By {@link SpanNode.id}; the first of several spans with one id has that id. */
  readonly byId: ReadonlyMap<string, SpanNode>;
}

interface OpenNode extends SpanNode {
  parent: OpenNode | undefined;
  run: OpenNode | undefined;
  agent: string | undefined;
  children: OpenNode[];
}

/** Exact to less than 1 µs: a double can hold 100 days in ns. */
export function spanTree(spans: readonly ViewSpan[]): SpanTree {
  const originNs = earliest(spans);
  const byId = new Map<string, OpenNode>();
  const copies = new Map<string, number>();
  const all = spans.map((span) => {
    const node = nodeOf(span, freeId(span.span_id, byId, copies), originNs);
    byId.set(node.id, node);
    return node;
  });
  all.sort((one, other) => one.start - other.start);
  const roots: OpenNode[] = [];
  for (const node of all) {
    const parent = byId.get(node.span.parent_span_id ?? "");
    const isParent = parent !== undefined && parent.span.trace_id === node.span.trace_id;
    if (isParent && parent !== node) {
      node.parent = parent;
      parent.children.push(node);
    } else roots.push(node);
  }
  const nodes = inOrder(roots, all);
  for (const node of nodes) putBelow(node);
  return { originNs, lastTime: lastTime(nodes, originNs), roots, nodes, byId };
}

/** Time since the origin in ms. */
export function timeSince(originNs: bigint, ns: string): number {
  return Number(nsOf(ns) - originNs) / 1e6;
}

/** Ancestors of a node, the nearest first. */
export function* ancestorsOf(node: SpanNode): Generator<SpanNode> {
  for (let at = node.parent; at !== undefined; at = at.parent) yield at;
}

function earliest(spans: readonly ViewSpan[]): bigint {
  let first: bigint | undefined;
  for (const { start_ns } of spans) {
    const start = nsOf(start_ns);
    if (first === undefined || start < first) first = start;
  }
  return first ?? 0n;
}

function nodeOf(span: ViewSpan, id: string, originNs: bigint): OpenNode {
  const start = timeSince(originNs, span.start_ns);
  const end = span.end_ns === null ? undefined : Math.max(start, timeSince(originNs, span.end_ns));
  return {
    id,
    span,
    parent: undefined,
    run: undefined,
    agent: undefined,
    children: [],
    start,
    end,
  };
}

/** @param copies the last number of each ID that occurred several times. */
function freeId(
  id: string,
  taken: ReadonlyMap<string, unknown>,
  copies: Map<string, number>,
): string {
  let free = id;
  while (taken.has(free)) {
    const number = (copies.get(id) ?? 1) + 1;
    copies.set(id, number);
    free = `${id}~${number}`;
  }
  return free;
}

/** Sets the run and agent of a node. Those of its parent are set already. */
function putBelow(node: OpenNode): void {
  const { parent, span } = node;
  node.run = parent?.span.kind === "run" ? parent : parent?.run;
  const own = span.kind === "run" ? span.attributes["gen_ai.agent.name"] : undefined;
  node.agent = typeof own === "string" ? own : parent?.agent;
}

/** Without recursion: a chain of spans can be very long. One span of each cycle becomes a root. */
function inOrder(roots: OpenNode[], all: readonly OpenNode[]): OpenNode[] {
  const reached = new Set<OpenNode>();
  const ordered: OpenNode[] = [];
  const walk = (root: OpenNode) => {
    const open = [root];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      reached.add(node);
      ordered.push(node);
      for (let at = node.children.length - 1; at >= 0; at--) {
        const child = node.children[at];
        if (child !== undefined) open.push(child);
      }
    }
  };
  for (const root of [...roots]) walk(root);
  for (const node of all) {
    if (reached.has(node)) continue;
    const root = onCycle(node);
    const { parent } = root;
    if (parent !== undefined) parent.children = parent.children.filter((child) => child !== root);
    root.parent = undefined;
    roots.push(root);
    walk(root);
  }
  return ordered;
}

/** The first span of the cycle at or above a node. Spans that are only under a cycle keep their parents. */
function onCycle(node: OpenNode): OpenNode {
  const passed = new Set<OpenNode>();
  let at = node;
  while (at.parent !== undefined && !passed.has(at)) {
    passed.add(at);
    at = at.parent;
  }
  return at;
}

function lastTime(nodes: readonly SpanNode[], originNs: bigint): number {
  let last = 0;
  for (const { start, end, span } of nodes) {
    last = Math.max(last, end ?? start);
    for (const { time_ns } of span.events) last = Math.max(last, timeSince(originNs, time_ns));
  }
  return last;
}

/** An invalid time counts as the origin. */
function nsOf(text: string): bigint {
  return /^-?\d+$/.test(text) ? BigInt(text) : 0n;
}
