import type { ViewRow } from "../format.ts";
import { fieldsOf, fieldText } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

/**
 * The audit rows of each span, in their order. Rows that name no span of the tree belong to the first
 * span of their run; rows of a run that has no span, to the first root.
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

/** Who decided what about a tool call. */
export interface RowDecision {
  readonly tool?: string;
  /** `approved`, `denied`, `edited`, `answered`. */
  readonly decision: string;
  /** `user` or `policy`. */
  readonly by?: string;
  readonly person?: string;
  readonly reason?: string;
}

/** The decision in a row; `undefined` where it has none, or no content. */
export function decisionIn({ event, kind }: ViewRow): RowDecision | undefined {
  const decision = fieldText(event, "decision");
  if (kind !== "entelix.tool_call_decided" || decision === undefined) return undefined;
  const fields: { tool?: string; by?: string; person?: string; reason?: string } = {};
  const tool = fieldText(event, "name");
  if (tool !== undefined) fields.tool = tool;
  for (const name of ["by", "person", "reason"] as const) {
    const text = fieldText(event, name);
    if (text !== undefined) fields[name] = text;
  }
  return { decision, ...fields };
}

/** What a row is about, in a few words, besides its kind: the tool, an outcome. */
export function subjectOf({ event }: ViewRow): string | undefined {
  const fields = fieldsOf(event);
  if (fields === undefined) return undefined;
  const names = ["name", "tool_name", "agent", "outcome", "class", "reason"];
  return names.map((name) => fieldText(fields, name)).find((text) => text !== undefined);
}
