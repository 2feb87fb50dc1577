import type { ViewAttributes } from "../format.ts";
import { fieldsOf, numberIn, textIn } from "./attributes.ts";
import type { RowDecision } from "./decisions.ts";
import type { CallDecision, Change } from "./exchange-items.ts";
import { parsedJson } from "./json-text.ts";
import type { SpanNode } from "./span-tree.ts";

/**
 * The decision about a tool call.
 *
 * @param known what its audit row or its span says.
 * @param event attributes of the run's event about it, which can have more than the span.
 */
export function callDecision(
  node: SpanNode,
  known: RowDecision | undefined,
  event: ViewAttributes | undefined,
): CallDecision | undefined {
  const own = event === undefined ? undefined : decisionOfEvent(event);
  if (known === undefined) return own;
  const { by, decision, person, proposed, reason, wait_ms } = known;
  return {
    outcome: decision,
    by: by ?? own?.by,
    person: person ?? own?.person,
    reason,
    waitMs: wait_ms ?? own?.waitMs,
    changes: changesOf(node, proposed),
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

/** The fields of the input that a person changed. Empty unless both inputs are objects. */
function changesOf({ span }: SpanNode, proposed: unknown): readonly Change[] {
  const before = fieldsOf(proposed);
  const after = fieldsOf(parsedJson(textIn(span.attributes, "gen_ai.tool.call.arguments") ?? ""));
  if (before === undefined || after === undefined) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const from = JSON.stringify(before[name]);
    const to = JSON.stringify(after[name]);
    return from === to ? [] : [{ name, from, to }];
  });
}
