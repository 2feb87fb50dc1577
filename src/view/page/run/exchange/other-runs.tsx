import type { RelatedRun } from "../../../format.ts";
import type { Exchange } from "../../../model/exchange-items.ts";
import type { RunModel } from "../../../model/run-model.ts";
import { Text } from "../../shell/text.tsx";
import { RunLink } from "../run-link.tsx";

/** The paused run that this one continues, with its question. */
export function Continues({
  exchange,
  model,
}: {
  readonly exchange: Exchange;
  readonly model: RunModel;
}) {
  const question = model.detail.run.question ?? earlierQuestion(exchange);
  return (
    <>
      {runsOf(model, "resumes").map((run) => (
        <p class="talk-other" key={run.run_id}>
          Continues the paused run <RunLink run={run} />
          {question !== undefined && (
            <>
              : <Text limit={200} value={question} />
            </>
          )}
        </p>
      ))}
    </>
  );
}

/** The run that continues this one. */
export function ContinuedBy({ model }: { readonly model: RunModel }) {
  return (
    <>
      {runsOf(model, "resumed_by").map((run) => (
        <p class="talk-other" key={run.run_id}>
          Continued by the run <RunLink run={run} />
        </p>
      ))}
    </>
  );
}

function runsOf({ detail }: RunModel, relation: RelatedRun["relation"]): readonly RelatedRun[] {
  return detail.related.filter((run) => run.relation === relation);
}

/** The last message of the user in the history that the run's models were sent. */
function earlierQuestion({ items }: Exchange): string | undefined {
  const earlier = items.find((item) => item.kind === "earlier");
  const asked = earlier?.items.findLast(
    (item) => item.kind === "message" && item.message.role === "user",
  );
  if (asked?.kind !== "message") return undefined;
  return asked.message.parts.find(({ kind }) => kind === "text")?.text;
}
