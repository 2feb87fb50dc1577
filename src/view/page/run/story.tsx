import { useMemo } from "preact/hooks";
import type { ViewDecision, ViewRun } from "../../format.ts";
import { callOf, changeText } from "../../model/decisions.ts";
import { msOf } from "../../model/formats.ts";
import type { RunModel } from "../../model/run-model.ts";
import { decisionText, isWaiting } from "../../model/story-words.ts";
import { LinkText, Text } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";
import { spanAddress } from "./span-link.tsx";

export interface StoryProps {
  readonly run: ViewRun;
  /** Absent while the spans are read: then decisions have no links. */
  readonly model?: RunModel;
}

/** Why it failed, what was asked, what a person decided, and how it ended. */
export function Story({ model, run }: StoryProps) {
  const { answer, asked, decisions = [], error, outcome, question } = run;
  return (
    <div class="story">
      {outcome === "failed" && error !== undefined && (
        <p class="note bad">
          <Text value={error} />
        </p>
      )}
      {question !== undefined && (
        <p class="story-question">
          <Text value={question} />
        </p>
      )}
      {decisions.map((decision, index) => (
        <p class="story-decision" key={index}>
          {model === undefined ? (
            <Text value={decisionText(decision)} />
          ) : (
            <Decided decision={decision} model={model} />
          )}
        </p>
      ))}
      {isWaiting(run) && (
        <p class="note waits">
          Waits for a person since <Time ms={msOf(run.end_ns ?? run.start_ns)} />
          {asked !== undefined && (
            <>
              : <Text value={asked} />
            </>
          )}
        </p>
      )}
      {outcome !== "failed" && answer !== undefined && (
        <p class="story-answer">
          <Text value={answer} />
        </p>
      )}
    </div>
  );
}

/** `ann@acme.test edited refund after 1.2 s: euros 41.9 → 20`, with a link to the call. */
function Decided({
  decision,
  model,
}: {
  readonly decision: ViewDecision;
  readonly model: RunModel | undefined;
}) {
  const node = useMemo(
    () => model && callOf(decision, model.detail.run.run_id, model.decisions),
    [decision, model],
  );
  const known = node && model?.decisions.get(node);
  const change = node && changeText(node, known?.proposed);
  // The rows of the log name the person also where the spans do not.
  const text = decisionText({ ...decision, person: decision.person ?? known?.person });
  return (
    <>
      {node === undefined || model === undefined ? (
        <Text value={text} />
      ) : (
        <a href={spanAddress(model.detail.run.key, new URLSearchParams(), node)}>
          <LinkText limit={200} value={text} />
        </a>
      )}
      {change !== undefined && (
        <>
          : <Text value={change} />
        </>
      )}
    </>
  );
}
