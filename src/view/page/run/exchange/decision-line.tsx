import type { CallDecision } from "../../../model/exchange-items.ts";
import { decisionText } from "../../../model/story-words.ts";
import { Text } from "../../shell/text.tsx";

/** Who decided what about a call, how long that took, and what was edited. */
export function DecisionLine({
  decision,
  tool,
}: {
  readonly decision: CallDecision;
  readonly tool: string;
}) {
  const { by, change, outcome, person, reason, waitMs } = decision;
  const text = decisionText({ call_id: "", at_ms: 0, tool, outcome, by, person, wait_ms: waitMs });
  return (
    <span class="talk-decision">
      <Text value={text} />
      {change !== undefined && (
        <>
          : <Text value={change} />
        </>
      )}
      {reason !== undefined && (
        <>
          . Reason: <Text limit={1000} value={reason} />
        </>
      )}
    </span>
  );
}
