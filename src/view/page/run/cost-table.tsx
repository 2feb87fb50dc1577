import { useMemo } from "preact/hooks";
import { count, durationText } from "../../../events/format/door.ts";
import { dollars } from "../../model/formats.ts";
import { agentOf, type RunModel } from "../../model/run-model.ts";
import { kindWords, shortName } from "../../model/span-words.ts";
import { stepSummaries } from "../../model/steps.ts";
import { addUsage, type Usage } from "../../model/usage.ts";
import { LinkText, Text } from "../shell/text.tsx";
import { SpanLink } from "./span-link.tsx";

export interface CostTableProps {
  readonly model: RunModel;
  readonly query: URLSearchParams;
}

/** Calls of each agent, with durations and costs. */
export function CostTable({ model, query }: CostTableProps) {
  const steps = useMemo(() => stepSummaries(model.tree, agentOf, model.waits), [model]);
  const total = addUsage(steps.map(({ usage }) => usage));
  const { cost_usd, estimated_by, input_tokens, output_tokens } = model.detail.run;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section aria-label="Cost and tokens" class="scroll-x" tabIndex={0}>
      {estimated_by !== undefined && <p class="muted">Costs are estimated by {estimated_by}.</p>}
      <table class="cost">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Step</th>
            <th class="number" scope="col">
              Calls
            </th>
            <th class="number" scope="col">
              Failed
            </th>
            <th class="number" scope="col">
              Time
            </th>
            <th class="number" scope="col">
              Waiting
            </th>
            <UsageHeads />
          </tr>
        </thead>
        <tbody>
          {steps.map(({ agent, calls, duration, failed, first, kind, usage, waiting }) => (
            <tr key={first.id}>
              <td>
                <Text limit={60} value={agent} />
              </td>
              <td>
                <i aria-hidden="true" class={`kind ${kind}`}>
                  {kindWords(kind).letter}
                </i>{" "}
                <SpanLink node={first} query={query} runKey={model.detail.run.key}>
                  <LinkText value={shortName(first.span)} />
                </SpanLink>{" "}
                <span class="muted">{kindWords(kind).word}</span>
              </td>
              <td class="number">{count(calls)}</td>
              <td class="number">{failed === 0 ? "" : `✕ ${count(failed)}`}</td>
              <td class="number">{durationText(duration)}</td>
              <td class="number">{waiting === 0 ? "" : durationText(waiting)}</td>
              <UsageCells usage={usage} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th colSpan={6} scope="row">
              Sum of the model calls
            </th>
            <UsageCells usage={total} />
          </tr>
          <tr>
            <th colSpan={6} scope="row">
              {estimated_by === undefined ? "As the run reports it" : "Estimated"}, child runs
              included
            </th>
            <UsageCells
              usage={{
                ...(input_tokens === undefined ? {} : { input: input_tokens }),
                ...(output_tokens === undefined ? {} : { output: output_tokens }),
                ...(cost_usd === undefined ? {} : { cost: cost_usd }),
              }}
            />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function UsageHeads() {
  return (
    <>
      <th class="number" scope="col">
        Tokens in
      </th>
      <th class="number" scope="col">
        Tokens out
      </th>
      <th class="number" scope="col">
        Cost
      </th>
    </>
  );
}

function UsageCells({ usage }: { readonly usage: Usage }) {
  const { cost, input, output } = usage;
  return (
    <>
      <td class="number">{input === undefined ? "" : count(input)}</td>
      <td class="number">{output === undefined ? "" : count(output)}</td>
      <td class="number" title={cost === undefined ? undefined : `$${cost}`}>
        {cost === undefined ? "" : dollars(cost)}
      </td>
    </>
  );
}
