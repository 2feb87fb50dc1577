import type { CallDecision, Change } from "../../../model/exchange-items.ts";
import { decisionText } from "../../../model/story-words.ts";
import { Text } from "../../shell/text.tsx";

/** Changed fields that are listed. */
const MOST_CHANGES = 5;

/** Who decided what about a call, how long that took, and what was edited. */
export function DecisionLine({
  decision,
  tool,
}: {
  readonly decision: CallDecision;
  readonly tool: string;
}) {
  const { by, changes, outcome, person, reason, waitMs } = decision;
  const text = decisionText({ call_id: "", at_ms: 0, tool, outcome, by, person, wait_ms: waitMs });
  return (
    <span class="talk-decision">
      <Text value={text} />
      {changes.slice(0, MOST_CHANGES).map((change) => (
        <span key={change.name}>
          {"; "}
          <ChangeOf change={change} />
        </span>
      ))}
      {changes.length > MOST_CHANGES && " …"}
      {reason !== undefined && (
        <>
          . Reason: <Text limit={1000} value={reason} />
        </>
      )}
    </span>
  );
}

function ChangeOf({ change: { from, name, to } }: { readonly change: Change }) {
  return (
    <>
      <Text limit={60} value={name} />:{" "}
      {from === undefined ? "none" : <Text limit={100} value={from} />} →{" "}
      {to === undefined ? "none" : <Text limit={100} value={to} />}
    </>
  );
}
