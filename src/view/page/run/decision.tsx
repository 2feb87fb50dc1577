import { decisionWords, type RowDecision } from "../../model/decisions.ts";
import { Text } from "../shell/text.tsx";

export interface DecisionProps {
  readonly decision: RowDecision;
  /** What a person changed in the input. */
  readonly change?: string | undefined;
}

/** A decision about a tool call, with its reason. */
export function Decision({ change, decision }: DecisionProps) {
  const { reason } = decision;
  return (
    <p class="note waits">
      <span class="decision">
        <strong>
          <Text limit={200} value={decisionWords(decision)} />
        </strong>
        {change !== undefined && (
          <>
            {": "}
            <Text value={change} />
          </>
        )}
        {reason !== undefined && (
          <span class="reason">
            Reason: <Text limit={1000} lines value={reason} />
          </span>
        )}
      </span>
    </p>
  );
}
