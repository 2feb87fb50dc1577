import { count, cut, durationText, safe } from "../../../events/format/door.ts";
import { numberIn } from "../../model/attributes.ts";
import { type OutlineItem, timeOf } from "../../model/outline.ts";
import type { TimelineRow } from "../../model/rows.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { SpanNode } from "../../model/span-tree.ts";
import {
  failedText,
  failuresOf,
  kindWords,
  shortName,
  unusualEnd,
} from "../../model/span-words.ts";
import { positionOn, type TimeAxis } from "../../model/time-axis.ts";
import { Name } from "../shell/text.tsx";

/** Deeper rows are not indented further: their names need room. */
const MAX_INDENT = 14;

export interface RowProps {
  readonly domId: string;
  readonly model: RunModel;
  readonly row: TimelineRow;
  /** End of open spans. */
  readonly end: number;
  readonly axis: TimeAxis;
  /** Pixels from the top of the tree; `undefined` on paper. */
  readonly top: number | undefined;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onChoose: (row: TimelineRow, moveFocus: boolean) => void;
  readonly onToggle: (id: string) => void;
}

/** A span, or a call with its retries: name, length, and bars on the time axis. */
export function Row(props: RowProps) {
  const { axis, domId, end, isActive, isSelected, model, onChoose, onToggle, row, top } = props;
  const { expanded, item, position, setSize } = row;
  const { calls, level, node } = item;
  const nodes = calls ?? [node];
  const { start } = timeOf(item);
  const { failed, kind } = node.span;
  const isFirstFailure = model.firstFailure !== undefined && nodes.includes(model.firstFailure);
  const isOpen = node.end === undefined;
  const length = durationText((node.end ?? end) - start);
  const name = shortName(node.span);
  const waits = nodes.flatMap((one) => model.waits.get(one) ?? []);
  const segment = numberIn(node.span.attributes, "entelix.run.segment");
  const ended = unusualEnd(node.span);
  const waited = waits.reduce((sum, wait) => sum + wait.end - wait.start, 0);
  const more = [
    failed ? "failed" : "",
    isOpen ? "open" : "",
    waited > 0 ? `waited for people ${durationText(waited)}` : "",
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
      <span class="row-name" style={{ paddingInlineStart: indent(level) }}>
        <Twisty expanded={expanded} onToggle={() => onToggle(item.id)} />
        <i aria-hidden="true" class={`kind ${kind}`}>
          {kindWords(kind).letter}
        </i>
        <span class="visually-hidden">{kindWords(kind).word} </span>
        <Name value={name} />
        <Fold item={item} />
        {segment !== undefined && <span class="fold">segment {count(segment)}</span>}
        {ended !== undefined && <span class="ended">{safe(cut(ended, 20).text)}</span>}
        {isFirstFailure && <b class="first-failure">First failure</b>}
        {failed && (
          <i aria-hidden="true" class="failed-sign">
            ✕
          </i>
        )}
        {more.length > 0 && <span class="visually-hidden"> {more.join(", ")}</span>}
      </span>
      <span class="number">{isOpen ? `${length} …` : length}</span>
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

/** `×3, 2 failed`. */
function Fold({ item }: { readonly item: OutlineItem }) {
  const { calls } = item;
  if (calls === undefined) return null;
  return (
    <span class="fold">
      ×{count(calls.length)}
      <span class="failures">, {failedText(failuresOf(calls))}</span>
    </span>
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

function indent(level: number): string {
  return `calc(${Math.min(level, MAX_INDENT) - 1} * var(--indent))`;
}
