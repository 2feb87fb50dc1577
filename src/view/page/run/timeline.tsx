import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, durationText } from "../../../events/format/door.ts";
import { MOST_PRINTED } from "../../model/list-limits.ts";
import { itemWith, type Outline } from "../../model/outline.ts";
import { shownFor, type TimelineRow } from "../../model/rows.ts";
import type { RunModel } from "../../model/run-model.ts";
import { labelledTicks, type TimeAxis } from "../../model/time-axis.ts";
import { treeMove } from "../../model/tree-keys.ts";
import { usePrinting } from "../shell/use-printing.ts";
import { nameWidth } from "./name-width.ts";
import { percent, Row } from "./timeline-row.tsx";
import { useSize } from "./use-size.ts";

/** Height of a row in pixels, as in timeline.css. */
const ROW = 28;
/** Further rows above and below the visible ones. */
const MARGIN = 8;
/** Most rows that count as visible: before printing, the tree is as high as all its rows. */
const MAX_PAGE = 200;

export interface TimelineProps {
  readonly model: RunModel;
  readonly outline: Outline;
  readonly end: number;
  readonly axis: TimeAxis;
  readonly rows: readonly TimelineRow[];
  /** Id of the item that the keys move from. */
  readonly active: string;
  /** Id of the span whose details are shown. */
  readonly selected: string | undefined;
  readonly container: RefObject<HTMLDivElement | null>;
  readonly onActivate: (id: string) => void;
  readonly onChoose: (row: TimelineRow, moveFocus: boolean) => void;
  readonly onToggle: (id: string) => void;
  readonly onFind: () => void;
  readonly onFirstFailure: () => void;
  readonly onZoom: () => void;
}

/** The spans as a tree on a time axis. Only rows near the visible part are on the page. */
export function Timeline(props: TimelineProps) {
  const { active, axis, container, end, model, outline, rows, selected } = props;
  const { onActivate, onChoose, onToggle } = props;
  const id = useId();
  const printing = usePrinting();
  const { height } = useSize(container);
  const [first, setFirst] = useState(0);
  const page = Math.min(MAX_PAGE, Math.max(1, Math.floor(height / ROW) - 1));
  const index = useMemo(() => new Map(rows.map(({ item }, at) => [item.id, at])), [rows]);
  const known = { outline, tree: model.tree };
  const activeAt = rowOf(active, index, known);
  const selectedAt = selected === undefined ? -1 : rowOf(selected, index, known);
  const width = useMemo(() => nameWidth(outline, model), [outline, model]);
  const hasUsage = model.usage.size > 0;
  useScrollTo(container, activeAt, active);

  const onScroll = () => {
    const top = Math.floor((container.current?.scrollTop ?? 0) / ROW);
    // In steps of half a margin, so that most scroll events render nothing.
    setFirst(Math.floor(top / (MARGIN / 2)) * (MARGIN / 2));
  };
  // Fewer rows than before may move the visible part without an event.
  useLayoutEffect(onScroll, [rows]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[activeAt];
    if (event.key === "f") props.onFirstFailure();
    else if (event.key === "z") props.onZoom();
    else if (event.key === "/") props.onFind();
    else if (event.key === "Enter") {
      if (row !== undefined) onChoose(row, true);
    } else {
      const move = treeMove(event.key, rows, activeAt, page);
      if (move.does === "nothing") {
        if (!TREE_KEYS.has(event.key)) return;
      } else if (move.does === "toggle") onToggle(row?.item.id ?? active);
      else onActivate(rows[move.to]?.item.id ?? active);
    }
    event.preventDefault();
  };

  const from = printing ? 0 : Math.max(0, first - MARGIN);
  const to = printing
    ? Math.min(rows.length, MOST_PRINTED)
    : Math.min(rows.length, first + MARGIN / 2 + page + 2 + MARGIN);
  // Screen readers follow `aria-activedescendant`: its row stays on the page.
  const shown = rows.slice(from, to).map((row, at) => ({ row, at: from + at }));
  const activeRow = rows[activeAt];
  if (activeRow !== undefined && (activeAt < from || activeAt >= to)) {
    shown.push({ row: activeRow, at: activeAt });
  }
  return (
    <section
      aria-label="Timeline"
      class={hasUsage ? "timeline with-usage" : "timeline"}
      style={{ "--name": `${width}px` }}
    >
      <Axis axis={axis} usage={hasUsage ? usageTitle(model) : undefined} />
      <div
        aria-activedescendant={activeRow === undefined ? undefined : `${id}${activeAt}`}
        aria-label="Spans"
        class="tree"
        onKeyDown={onKeyDown}
        onScroll={onScroll}
        ref={container}
        role="tree"
        tabIndex={0}
      >
        <div
          class="tree-rows"
          role="none"
          style={printing ? {} : { height: `${rows.length * ROW}px` }}
        >
          {shown.map(({ at, row }) => (
            <Row
              axis={axis}
              domId={`${id}${at}`}
              end={end}
              hasUsage={hasUsage}
              isActive={at === activeAt}
              isSelected={at === selectedAt}
              key={row.item.id}
              model={model}
              onChoose={onChoose}
              onToggle={onToggle}
              row={row}
              top={printing ? undefined : at * ROW}
            />
          ))}
        </div>
      </div>
      {rows.length > MOST_PRINTED && (
        <p class="print-only">{count(rows.length - MOST_PRINTED)} more rows are not printed.</p>
      )}
    </section>
  );
}

/** Keys of the tree. They must not scroll it, even if they do nothing. */
const TREE_KEYS = new Set(["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "PageUp", " "]);

/** The row of an item or of its fold; -1 if there is none. */
function rowOf(
  id: string,
  index: ReadonlyMap<string, number>,
  known: Parameters<typeof itemWith>[1],
): number {
  const item = shownFor(itemWith(id, known), (one) => index.has(one));
  return item === undefined ? -1 : (index.get(item.id) ?? -1);
}

/** Scrolls a row into the visible part when it becomes the active one. */
function useScrollTo(container: RefObject<HTMLDivElement | null>, at: number, id: string): void {
  const last = useRef<string>("");
  useEffect(() => {
    const element = container.current;
    if (element === null || at < 0 || last.current === id) return;
    last.current = id;
    const top = at * ROW;
    const { clientHeight, scrollTop } = element;
    if (top < scrollTop) element.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) {
      const isFar = top > scrollTop + 2 * clientHeight;
      element.scrollTop = top + ROW - (isFar ? clientHeight / 2 : clientHeight);
    }
  }, [container, at, id]);
}

function usageTitle({ tree, usage }: RunModel): string {
  return tree.roots.some((root) => usage.get(root)?.cost !== undefined) ? "Cost" : "Tokens";
}

/** Labels above the tracks: the start of the range, and times since then. */
function Axis({
  axis,
  usage,
}: {
  readonly axis: TimeAxis;
  /** Title of the column of tokens and cost, if there is one. */
  readonly usage: string | undefined;
}) {
  const track = useRef<HTMLSpanElement>(null);
  const { width } = useSize(track);
  // Thousands of short waits would only look grey.
  const cut = axis.cut.filter(({ length }) => length * width >= 2);
  return (
    <div aria-hidden="true" class="axis">
      <span>Span</span>
      <span class="number">Duration</span>
      {usage !== undefined && <span class="number usage">{usage}</span>}
      <span class="track" ref={track}>
        {cut.map(({ from, length, share, to }) => (
          <i
            class="cut"
            key={from}
            style={{ insetInlineStart: percent(share), width: percent(length) }}
            title={`Waiting for people: ${durationText(to - from)}, drawn shorter`}
          />
        ))}
        {labelledTicks(axis, width).map(({ isLast, share, text, time }) => (
          <i
            class={isLast ? "tick last" : "tick"}
            key={time}
            style={{ insetInlineStart: percent(share) }}
          >
            {text !== "" && <span>{text}</span>}
          </i>
        ))}
      </span>
    </div>
  );
}
