import type { RunModel } from "./run-model.ts";
import { ancestorsOf, type SpanNode } from "./span-tree.ts";
import type { Wait } from "./waits.ts";

/** A range of time in ms since the start of a run. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The times in which the run only waited for people, in order.
 *
 * @param now end of open spans.
 */
export function idleTimes(
  { tree, waits }: Pick<RunModel, "tree" | "waits">,
  now: number,
): readonly TimeRange[] {
  const waited = merged([...waits.values()].flat().map(rangeOf));
  if (waited.length === 0) return [];
  // A span with a run or a wait below it does not count as work itself: the spans below it do.
  const around = new Set<SpanNode>();
  for (const node of tree.nodes) {
    if (node.span.kind !== "run" && !waits.has(node)) continue;
    for (const above of ancestorsOf(node)) {
      if (around.has(above)) break;
      around.add(above);
    }
  }
  const work = tree.nodes
    .filter((node) => node.span.kind !== "run" && !around.has(node))
    .flatMap((node) => {
      const own = (waits.get(node) ?? []).map(rangeOf);
      return without([{ from: node.start, to: node.end ?? now }], merged(own));
    });
  return without(waited, merged(work));
}

function rangeOf({ end, start }: Wait): TimeRange {
  return { from: start, to: end };
}

/** Merges ranges that overlap or touch. In order. */
function merged(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const all: { readonly from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

/** Removes some ranges from others. Both must be merged. */
function without(ranges: readonly TimeRange[], others: readonly TimeRange[]): TimeRange[] {
  const left: TimeRange[] = [];
  let next = 0;
  for (const { from, to } of ranges) {
    let start = from;
    while ((others[next]?.to ?? Number.POSITIVE_INFINITY) <= start) next++;
    for (let at = next; ; at++) {
      const other = others[at];
      if (other === undefined || other.from >= to) break;
      if (other.from > start) left.push({ from: start, to: other.from });
      start = Math.max(start, other.to);
    }
    if (start < to) left.push({ from: start, to });
  }
  return left;
}
