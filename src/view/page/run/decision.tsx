import type { RowDecision } from "../../model/span-rows.ts";
import { Text } from "../shell/text.tsx";

/** A decision about a tool call, with its reason. */
export function Decision({ decision }: { readonly decision: RowDecision }) {
  const { by, person, reason, tool } = decision;
  return (
    <p class="note waits">
      <span class="decision">
        <strong>
          <Text value={decision.decision} />
        </strong>
        {tool !== undefined && (
          <>
            {": "}
            <Text limit={80} value={tool} />
          </>
        )}
        {by !== undefined && (
          <>
            {", by "}
            <Text value={by === "policy" ? "a rule" : by === "user" ? "a person" : by} />
          </>
        )}
        {person !== undefined && (
          <>
            {": "}
            <Text limit={80} value={person} />
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
