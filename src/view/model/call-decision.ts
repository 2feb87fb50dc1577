import type { ViewAttributes } from "../format.ts";
import { changeText, decisionOfAttributes, type RowDecision } from "./decisions.ts";
import type { CallDecision } from "./exchange-items.ts";
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
    change: changeText(node, proposed),
  };
}

/** The decision in an event `entelix.approval` of a run. */
export function decisionOfEvent(attributes: ViewAttributes): CallDecision | undefined {
  const known = decisionOfAttributes(attributes);
  if (known === undefined) return undefined;
  const { by, decision: outcome, person, wait_ms: waitMs } = known;
  return { outcome, by, person, waitMs };
}
