import type { ComponentChildren } from "preact";
import { count, counted, durationText } from "../../../events/format/door.ts";
import { dollars } from "../../model/formats.ts";
import { FEW_RUNS, type ListNumbers, shareText } from "../../model/list-numbers.ts";
import { type ListQuery, toggled } from "../../model/list-query.ts";

export interface NumbersProps {
  readonly numbers: ListNumbers;
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** Numbers of the runs that the list shows. Those of failed and waiting runs are filters. */
export function Numbers({ list, numbers, onChange }: NumbersProps) {
  const { cost, durations, estimatedBy, failed, input, output, runs, waiting } = numbers;
  const isFailed = list.chosen.outcome.has("failed");
  return (
    <ul aria-label="Numbers of these runs" class="numbers">
      <Toggle
        isOn={isFailed}
        name="Failed"
        onClick={() => onChange(toggled(list, "outcome", "failed"))}
        tone={failed > 0 ? "bad" : undefined}
      >
        {failedText(numbers)}
      </Toggle>
      <Toggle
        isOn={list.waiting}
        name="Waits for a person"
        onClick={() => onChange({ ...list, waiting: !list.waiting })}
        tone={waiting > 0 ? "waits" : undefined}
      >
        {waiting === 0 ? "none" : count(waiting)}
      </Toggle>
      {durations !== undefined && (
        <Figure name="Duration" title="Without the time spent waiting for people">
          {runs < FEW_RUNS
            ? rangeText(durations.shortest, durations.longest)
            : `p50 ${durationText(durations.p50)}, p95 ${durationText(durations.p95)}`}
        </Figure>
      )}
      {(input !== undefined || output !== undefined) && (
        <Figure name="Tokens">
          {count(input ?? 0)} in, {count(output ?? 0)} out
        </Figure>
      )}
      {cost !== undefined && (
        <Figure
          name="Cost"
          title={`Known cost in US dollars${estimatedBy === undefined ? "" : `, estimated by ${estimatedBy}`}`}
        >
          {estimatedBy !== undefined && "≈ "}
          {dollars(String(cost))}
        </Figure>
      )}
    </ul>
  );
}

/** In words where there are few: `1 of 5 runs`. Else the share: `154, 7.7%`. */
function failedText({ failed, runs }: ListNumbers): string {
  if (failed === 0) return "none";
  if (runs < FEW_RUNS) return `${count(failed)} of ${counted(runs, "run")}`;
  return `${count(failed)}, ${shareText(failed, runs)}`;
}

function rangeText(shortest: number, longest: number): string {
  const [from, to] = [durationText(shortest), durationText(longest)];
  return from === to ? to : `${from} to ${to}`;
}

interface FigureProps {
  readonly name: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

function Figure({ children, name, title }: FigureProps) {
  return (
    <li title={title}>
      <span class="muted">{name}</span> <strong>{children}</strong>
    </li>
  );
}

function Toggle(props: {
  readonly name: string;
  readonly isOn: boolean;
  readonly tone: "bad" | "waits" | undefined;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}) {
  const { children, isOn, name, onClick, tone } = props;
  return (
    <li>
      <button aria-pressed={isOn} onClick={onClick} type="button">
        <span class="muted">{name}</span>{" "}
        <strong class={tone && `story-${tone}`}>{children}</strong>
      </button>
    </li>
  );
}
