import type { ViewAttributes, ViewRow } from "../format.ts";
import { fieldsOf, fieldText, textIn } from "./attributes.ts";
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

/** A decision about a tool call. */
export interface RowDecision {
  readonly tool?: string;
  /** `approved`, `denied`, `edited`, `answered`. */
  readonly decision: string;
  /** `user` or `policy`. */
  readonly by?: string;
  readonly person?: string;
  readonly reason?: string;
}

/** The decision in a row; `undefined` if the row has no decision or no content. */
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

/** Subject of a row besides its kind, such as the tool or an outcome. */
export function subjectOf({ event }: ViewRow): string | undefined {
  const fields = fieldsOf(event);
  if (fields === undefined) return undefined;
  const names = ["name", "tool_name", "agent", "outcome", "class", "reason"];
  return names.map((name) => fieldText(fields, name)).find((text) => text !== undefined);
}

/** The decision about a tool call, from its audit row, else from the span; `undefined` if there was none. */
export function decisionOf(node: SpanNode, rows: readonly ViewRow[]): RowDecision | undefined {
  const { attributes, kind, run_id } = node.span;
  if (kind !== "tool") return undefined;
  const callId = textIn(attributes, "gen_ai.tool.call.id");
  const own = rows.filter(
    (row) =>
      row.kind === "entelix.tool_call_decided" &&
      row.run_id === run_id &&
      fieldText(row.event, "tool_use_id") === callId &&
      callId !== undefined,
  );
  const [row] = own;
  // If several calls have the same ID, the call of a row is unknown.
  const decision = row === undefined || own.length > 1 ? undefined : decisionIn(row);
  const outcome = textIn(attributes, "entelix.approval.outcome");
  return decision ?? (outcome === undefined ? undefined : decisionOfSpan(outcome, attributes));
}

function decisionOfSpan(decision: string, attributes: ViewAttributes): RowDecision {
  const by = textIn(attributes, "entelix.approval.by");
  const person = textIn(attributes, "entelix.approval.person");
  const reason = textIn(attributes, "entelix.approval.reason");
  return {
    decision,
    ...(by === undefined ? {} : { by }),
    ...(person === undefined ? {} : { person }),
    ...(reason === undefined ? {} : { reason }),
  };
}
