import { cut, durationText, safe } from "../../../events/format/door.ts";
import { timeOf } from "../../model/outline.ts";
import { type RowNotes, rowNotes, rowUsage, usageWords } from "../../model/row-notes.ts";
import type { TimelineRow } from "../../model/rows.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import { kindWords, shortName } from "../../model/span-words.ts";
import { positionOn, type TimeAxis } from "../../model/time-axis.ts";
import { Name } from "../shell/text.tsx";

/** Deeper rows are not indented further: their names need room. */
export const MAX_INDENT = 14;

export interface RowProps {
  readonly domId: string;
  readonly model: RunModel;
  readonly row: TimelineRow;
  /** End of open spans. */
  readonly end: number;
  readonly axis: TimeAxis;
  /** Pixels from the top of the tree; `undefined` on paper. */
  readonly top: number | undefined;
  /** Whether rows have a column for tokens and cost. */
  readonly hasUsage: boolean;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onChoose: (row: TimelineRow, moveFocus: boolean) => void;
  readonly onToggle: (id: string) => void;
}

/** A span, or a call with its retries: name, length, and bars on the time axis. */
export function Row(props: RowProps) {
  const { axis, domId, end, hasUsage, isActive, isSelected, model, onChoose, onToggle, row, top } =
    props;
  const { expanded, item, position, setSize } = row;
  const { calls, level, node } = item;
  const nodes = calls ?? [node];
  const { start } = timeOf(item);
  const { failed, kind } = node.span;
  const isFirstFailure =
    model.failures.length > 1 && nodes.some((one) => one === model.failures[0]);
  const isOpen = node.end === undefined;
  const length = durationText((node.end ?? end) - start);
  const name = shortName(node.span);
  const waits = nodes.flatMap((one) => model.waits.get(one) ?? []);
  const notes = rowNotes(item, model);
  const usage = usageWords(rowUsage(item, model));
  const waited = waits.reduce((sum, wait) => sum + wait.end - wait.start, 0);
  const more = [
    failed ? "failed" : "",
    isOpen ? "open" : "",
    waited > 0 ? `waited for people ${durationText(waited)}` : "",
    usage?.spoken ?? "",
  ].filter((word) => word !== "");
  const classes = ["tree-row", isActive && "active", isSelected && "selected", failed && "failed"];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys of all its rows
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names the active row
    <div
      aria-expanded={expanded}
      aria-level={level}
      aria-posinset={position}
      aria-selected={isSelected}
      aria-setsize={setSize}
      class={classes.filter(Boolean).join(" ")}
      id={domId}
      onClick={() => onChoose(row, false)}
      role="treeitem"
      style={top === undefined ? {} : { transform: `translateY(${top}px)` }}
    >
      <span class="row-name" style={{ "--depth": Math.min(level, MAX_INDENT) - 1 }}>
        <Twisty expanded={expanded} onToggle={() => onToggle(item.id)} />
        <i aria-hidden="true" class={`kind ${kind}`}>
          {kindWords(kind).letter}
        </i>
        <span class="visually-hidden">{kindWords(kind).word} </span>
        <Name value={name} />
        {failed && (
          <i aria-hidden="true" class="failed-sign">
            ✕
          </i>
        )}
        {isFirstFailure && <b class="first-failure">First failure</b>}
        <Notes notes={notes} />
        {more.length > 0 && <span class="visually-hidden"> {more.join(", ")}</span>}
      </span>
      <span class="number">{isOpen ? `${length} …` : length}</span>
      {hasUsage && (
        <span aria-hidden="true" class="number usage" title={usage?.title}>
          {usage?.short}
        </span>
      )}
      <span class="track">
        {waits.map((wait) => (
          <TimeBar end={wait.end} kind="bar wait" key={wait.start} axis={axis} start={wait.start} />
        ))}
        {nodes.map((one) => (
          <TimeBar
            end={one.end ?? end}
            kind={barClass(one)}
            key={one.id}
            axis={axis}
            start={one.start}
          />
        ))}
      </span>
    </div>
  );
}

function Notes({ notes: { decision, ended, segment, tries } }: { readonly notes: RowNotes }) {
  return (
    <>
      {segment !== undefined && <span class="row-note">{segment}</span>}
      {tries !== undefined && <span class="row-note">{tries}</span>}
      {ended !== undefined && <span class="ended">{safe(cut(ended, 20).text)}</span>}
      {decision !== undefined && (
        <span class="row-note decided">
          <Name value={decision} />
        </span>
      )}
    </>
  );
}

function Twisty({
  expanded,
  onToggle,
}: {
  readonly expanded: boolean | undefined;
  readonly onToggle: () => void;
}) {
  const onClick = (event: MouseEvent) => {
    event.stopPropagation();
    onToggle();
  };
  if (expanded === undefined) return <i aria-hidden="true" class="twisty" />;
  return (
    <i aria-hidden="true" class="twisty" onClick={onClick}>
      {expanded ? "▾" : "▸"}
    </i>
  );
}

function barClass({ end, span }: SpanNode): string {
  const open = end === undefined ? " open" : "";
  return `bar ${span.kind}${open}${span.failed ? " failed" : ""}`;
}

interface TimeBarProps {
  readonly kind: string;
  readonly axis: TimeAxis;
  readonly start: number;
  readonly end: number;
}

function TimeBar({ axis, end, kind, start }: TimeBarProps) {
  const position = positionOn(axis, start, end);
  if (position === undefined) return null;
  return (
    <i
      class={kind}
      style={{ insetInlineStart: percent(position.start), width: percent(position.length) }}
    />
  );
}

/** A share as CSS writes it. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
