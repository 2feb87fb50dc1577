import type { ViewRow } from "../format.ts";
import { fieldsOf, fieldText } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

/**
 * The audit rows of each span, in their order. Rows without a span in the tree belong to the first span of their run,
 * or to the first root if the run has no span.
 */
export function rowsBySpan(
  tree: SpanTree,
  rows: readonly ViewRow[],
): ReadonlyMap<SpanNode, readonly ViewRow[]> {
  const runs = new Map<string, SpanNode>();
  for (const node of tree.nodes) {
    const { kind, run_id } = node.span;
    if (kind === "run" && run_id !== undefined && !runs.has(run_id)) runs.set(run_id, node);
  }
  const found = new Map<SpanNode, ViewRow[]>();
  for (const row of rows) {
    const node = tree.byId.get(row.span_id ?? "") ?? runs.get(row.run_id ?? "") ?? tree.roots[0];
    if (node === undefined) continue;
    const same = found.get(node);
    if (same === undefined) found.set(node, [row]);
    else same.push(row);
  }
  return found;
}

/** Subject of a row besides its kind, such as the tool or an outcome. */
export function subjectOf({ event }: ViewRow): string | undefined {
  const fields = fieldsOf(event);
  if (fields === undefined) return undefined;
  const names = ["name", "tool_name", "agent", "outcome", "class", "reason"];
  return names.map((name) => fieldText(fields, name)).find((text) => text !== undefined);
}
