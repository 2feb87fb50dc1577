import { textIn } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

/** An item of the timeline: a span, or a call with its retries folded into one row. */
export interface OutlineItem {
  /** The node's id, or `fold:` with the id of the first call. */
  readonly id: string;
  /** The span. For a fold: the last call, which has the outcome. */
  readonly node: SpanNode;
  /** The calls of a fold, at least two. All but the last failed. */
  readonly calls?: readonly SpanNode[];
  /** In a fold: which of its calls it is, from 1. */
  readonly number?: number;
  readonly parent: OutlineItem | undefined;
  readonly children: readonly OutlineItem[];
  /** From 1. */
  readonly level: number;
}

export interface Outline {
  readonly roots: readonly OutlineItem[];
  /** The item of each node itself, not that of its fold. For a hidden span: the nearest item above it. */
  readonly byNode: ReadonlyMap<SpanNode, OutlineItem>;
}

const FOLD = "fold:";

interface OpenItem extends OutlineItem {
  children: OutlineItem[];
}

const NONE: ReadonlySet<SpanNode> = new Set();

/**
 * The rows of the timeline, retries folded.
 *
 * @param hidden spans without a row: their children stand in their place.
 */
export function outlineOf(tree: SpanTree, hidden = NONE): Outline {
  const byNode = new Map<SpanNode, OutlineItem>();
  const roots: OutlineItem[] = [];
  const open: OpenItem[] = [];
  const put = (node: SpanNode, parent: OpenItem | undefined, inFold: { number?: number } = {}) => {
    const level = levelIn(parent);
    const item: OpenItem = { id: node.id, node, parent, children: [], level, ...inFold };
    (parent?.children ?? roots).push(item);
    byNode.set(node, item);
    open.push(item);
  };
  const putAll = (nodes: readonly SpanNode[], parent: OpenItem | undefined) => {
    const shown = shownIn(nodes, hidden, (node) => {
      if (parent !== undefined) byNode.set(node, parent);
    });
    for (const calls of retriesIn(shown)) {
      const [first] = calls;
      const node = calls.at(-1);
      if (first === undefined || node === undefined) continue;
      if (calls.length === 1) put(node, parent);
      else {
        const id = `${FOLD}${first.id}`;
        const fold: OpenItem = { id, node, calls, parent, children: [], level: levelIn(parent) };
        (parent?.children ?? roots).push(fold);
        for (const [at, call] of calls.entries()) put(call, fold, { number: at + 1 });
      }
    }
  };
  putAll(tree.roots, undefined);
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    putAll(item.node.children, item);
  }
  return { roots, byNode };
}

/** Spans in their order, the children of a hidden one in its place. */
function* shownIn(
  nodes: readonly SpanNode[],
  hidden: ReadonlySet<SpanNode>,
  onHidden: (node: SpanNode) => void,
): Generator<SpanNode> {
  // Without recursion: a chain of spans can be very long.
  const open = [nodes.values()];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { done, value: node } = top.next();
    if (done === true) open.pop();
    else if (!hidden.has(node)) yield node;
    else {
      onHidden(node);
      open.push(node.children.values());
    }
  }
}

/**
 * The steps that are hidden by default: those of runs with calls of models or tools. Retrievals, and steps that failed
 * by themselves, are not hidden.
 *
 * @param failures of the run.
 */
export function frameworkSteps(
  tree: SpanTree,
  failures: readonly SpanNode[],
): ReadonlySet<SpanNode> {
  const own = new Set(failures);
  const steps: SpanNode[] = [];
  const withCalls = new Set<string>();
  for (const node of tree.nodes) {
    const { kind } = node.span;
    if (kind === "model" || kind === "tool") withCalls.add(runIdOf(node));
    else if (kind === "step" && !own.has(node) && !isRetrieval(node)) steps.push(node);
  }
  return new Set(steps.filter((node) => withCalls.has(runIdOf(node))));
}

function isRetrieval({ span: { attributes } }: SpanNode): boolean {
  const operation = textIn(attributes, "gen_ai.operation.name");
  const query = textIn(attributes, "gen_ai.retrieval.query.text");
  return operation === "retrieval" || operation === "rerank" || query !== undefined;
}

/** The segments of a run have one ID. */
function runIdOf({ run }: SpanNode): string {
  return run?.span.run_id ?? run?.id ?? "";
}

/** The item or fold with an ID; `undefined` if there is none. */
export function itemWith(
  id: string,
  { outline, tree }: { readonly outline: Outline; readonly tree: SpanTree },
): OutlineItem | undefined {
  const isFold = id.startsWith(FOLD);
  const node = tree.byId.get(isFold ? id.slice(FOLD.length) : id);
  const item = node && outline.byNode.get(node);
  if (!isFold) return item;
  return item?.parent?.id === id ? item.parent : undefined;
}

/** Start of a span or of the first call of a fold, and end of the last one. */
export function timeOf({ calls, node }: OutlineItem): Pick<SpanNode, "end" | "start"> {
  return { start: (calls?.[0] ?? node).start, end: node.end };
}

/** Name of the called tool or model: a further call of it is a retry. `undefined`: the span is never a retry. */
export function calleeOf({ span }: SpanNode): string | undefined {
  const { attributes, kind, name } = span;
  if (kind === "tool") return `tool ${textIn(attributes, "gen_ai.tool.name") ?? name}`;
  if (kind === "model") return `model ${textIn(attributes, "gen_ai.request.model") ?? name}`;
  return undefined;
}

/** Groups siblings: a failed call with its consecutive retries, or one span. */
function* retriesIn(nodes: Iterable<SpanNode>): Generator<readonly SpanNode[]> {
  let group: SpanNode[] = [];
  for (const node of nodes) {
    const last = group.at(-1);
    if (last !== undefined && !isRetry(node, last)) {
      yield group;
      group = [];
    }
    group.push(node);
  }
  if (group.length > 0) yield group;
}

/** Calls that overlap, or are of different steps, are not retries. */
function isRetry(node: SpanNode, last: SpanNode): boolean {
  const callee = calleeOf(node);
  const isOver = last.end !== undefined && last.end <= node.start;
  const isBeside = last.parent === node.parent;
  return (
    last.span.failed && isOver && isBeside && callee !== undefined && callee === calleeOf(last)
  );
}

function levelIn(parent: OutlineItem | undefined): number {
  return parent === undefined ? 1 : parent.level + 1;
}
