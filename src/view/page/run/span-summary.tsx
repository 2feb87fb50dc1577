import { count, durationText } from "../../../events/format/door.ts";
import { numberIn, textIn } from "../../model/attributes.ts";
import { changeText } from "../../model/decisions.ts";
import { dollars, msOf } from "../../model/formats.ts";
import { agentOf, type RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { outcomeOf } from "../../model/span-words.ts";
import { ownUsage } from "../../model/usage.ts";
import { Text } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";
import { Decision } from "./decision.tsx";
import { Fact } from "./run-header.tsx";
import { Value } from "./value.tsx";

export interface SpanSummaryProps {
  readonly model: RunModel;
  readonly node: SpanNode;
}

/** The most important attributes of a span, and its content. */
export function SpanSummary({ model, node }: SpanSummaryProps) {
  const { end, span, start } = node;
  const { attributes, run_id } = span;
  const usage = span.kind === "model" ? ownUsage(span) : (model.usage.get(node) ?? {});
  const agent = agentOf(node);
  const outcome = outcomeOf(span);
  const estimatedBy = span.kind === "model" ? span.estimated_by : model.detail.run.estimated_by;
  const state = textIn(attributes, "entelix.run.state");
  const retries = numberIn(attributes, "entelix.retry.count");
  const decision = model.decisions.get(node);
  const waited = (model.waits.get(node) ?? []).reduce((sum, one) => sum + one.end - one.start, 0);
  return (
    <>
      <dl class="facts">
        <Fact name="Started">
          <Time ms={msOf(span.start_ns)} precision="milliseconds" />
        </Fact>
        <Fact name="After the start of the run">{durationText(start)}</Fact>
        <Fact name="Duration">{end === undefined ? "open" : durationText(end - start)}</Fact>
        {waited > 0 && <Fact name="Waited for people">{durationText(waited)}</Fact>}
        {outcome !== undefined && (
          <Fact name="Outcome">
            <Text value={outcome} />
          </Fact>
        )}
        {agent !== "" && (
          <Fact name="Agent">
            <Text limit={80} value={agent} />
          </Fact>
        )}
        {(usage.input !== undefined || usage.output !== undefined) && (
          <Fact name={span.kind === "model" ? "Tokens" : "Tokens, with all under it"}>
            {count(usage.input ?? 0)} in, {count(usage.output ?? 0)} out
          </Fact>
        )}
        {usage.cost !== undefined && (
          <Fact name={span.kind === "model" ? "Cost" : "Cost, with all under it"}>
            <span title={`$${usage.cost}`}>{dollars(usage.cost)}</span>
            {estimatedBy !== undefined && <>, estimated by {estimatedBy}</>}
          </Fact>
        )}
        {retries !== undefined && <Fact name="Attempts after the first">{count(retries)}</Fact>}
        {run_id !== undefined && run_id !== model.detail.run.run_id && (
          <Fact name="Run">
            <span class="mono">
              <Text limit={80} value={run_id} />
            </span>
          </Fact>
        )}
      </dl>
      {decision !== undefined && (
        <Decision change={changeText(node, decision.proposed)} decision={decision} />
      )}
      {CONTENT.map(([name, title]) => {
        const value = textIn(attributes, name);
        if (value === undefined) return null;
        return (
          <section class="content" key={`${node.id} ${name}`}>
            <h3>{title}</h3>
            <Value name={title} value={value} />
          </section>
        );
      })}
      {state !== undefined && (
        <details class="content" key={`${node.id} state`}>
          <summary>State of the agent at the end</summary>
          <Value name="State of the agent at the end" value={state} />
        </details>
      )}
    </>
  );
}

/** Content other than messages. The state comes last and is folded: it is long, and repeats the messages. */
const CONTENT = [
  ["gen_ai.tool.call.arguments", "Input of the tool"],
  ["entelix.approval.proposed_input", "Input before a person edited it"],
  ["gen_ai.tool.call.result", "Output of the tool"],
  ["gen_ai.retrieval.query.text", "Query"],
  ["gen_ai.retrieval.documents", "Documents found"],
  ["entelix.interruption.payload", "What the run asks"],
] as const;
