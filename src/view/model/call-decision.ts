import type { ViewAttributes, ViewRow } from "../format.ts";
import { fieldsOf, fieldText, numberIn, textIn } from "./attributes.ts";
import type { CallDecision, Change } from "./exchange-items.ts";
import { decisionOf } from "./span-rows.ts";
import type { SpanNode } from "./span-tree.ts";

/** Rows of decisions by run and call: each call asks only for its own. */
export function decisionRows(rows: readonly ViewRow[]): ReadonlyMap<string, readonly ViewRow[]> {
  const found = new Map<string, ViewRow[]>();
  for (const row of rows) {
    const id = fieldText(row.event, "tool_use_id");
    if (row.kind !== "entelix.tool_call_decided" || id === undefined) continue;
    const key = callKey(row.run_id ?? undefined, id);
    const same = found.get(key);
    if (same === undefined) found.set(key, [row]);
    else same.push(row);
  }
  return found;
}

export function callKey(runId: string | undefined, callId: string): string {
  return JSON.stringify([runId, callId]);
}

/**
 * The decision about a tool call.
 *
 * @param event attributes of the run's event about it, which can have more than the span.
 * @param rows audit rows of decisions about it.
 */
export function callDecision(
  node: SpanNode,
  event: ViewAttributes | undefined,
  rows: readonly ViewRow[],
): CallDecision | undefined {
  const known = decisionOf(node, rows);
  const own = event === undefined ? undefined : decisionOfEvent(event);
  if (known === undefined) return own;
  const { attributes } = node.span;
  return {
    outcome: known.decision,
    by: known.by ?? own?.by,
    person: known.person ?? own?.person,
    reason: known.reason ?? textIn(attributes, "entelix.approval.reason"),
    waitMs: numberIn(attributes, "entelix.approval.wait_ms") ?? own?.waitMs,
    changes: changesOf(attributes),
  };
}

/** The decision in an event `entelix.approval` of a run. */
export function decisionOfEvent(attributes: ViewAttributes): CallDecision | undefined {
  const outcome = textIn(attributes, "entelix.approval.outcome");
  if (outcome === undefined) return undefined;
  return {
    outcome,
    by: textIn(attributes, "entelix.approval.by"),
    person: textIn(attributes, "entelix.approval.person"),
    waitMs: numberIn(attributes, "entelix.approval.wait_ms"),
    changes: [],
  };
}

/** The fields of the input that a person changed. None if the inputs are no objects. */
function changesOf(attributes: ViewAttributes): readonly Change[] {
  const before = objectIn(attributes, "entelix.approval.proposed_input");
  const after = objectIn(attributes, "gen_ai.tool.call.arguments");
  if (before === undefined || after === undefined) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const from = JSON.stringify(before[name]);
    const to = JSON.stringify(after[name]);
    return from === to ? [] : [{ name, from, to }];
  });
}

function objectIn(attributes: ViewAttributes, name: string) {
  try {
    return fieldsOf(JSON.parse(textIn(attributes, name) ?? ""));
  } catch {
    return undefined;
  }
}
