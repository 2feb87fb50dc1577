import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../../../events/format/door.ts";
import { MOST_PRINTED } from "../../model/list-limits.ts";
import { lineAbove, linesOf } from "../../model/list-lines.ts";
import type { ListQuery } from "../../model/list-query.ts";
import { nextRow } from "../../model/next-row.ts";
import type { RunRow } from "../../model/run-index.ts";
import { runAddress } from "../route.ts";
import { remPx } from "../shell/text-width.ts";
import { usePrinting } from "../shell/use-printing.ts";
import { COLUMNS, type Column } from "./columns.tsx";
import { remembered, useScrollAnchor } from "./list-position.ts";
import { FOLD } from "./row-cells.tsx";
import { SortHeader, SortSelect } from "./sort-controls.tsx";
import { useVisibleRange } from "./visible-range.ts";

/** Heights in rem, as in list.css. */
const ROW_REM = 2.5;
const CARD_REM = 8.5;
/** Narrower windows have cards. */
const TABLE_REM = 68;
/** Least widths of the columns that need room. */
const WIDTHS = [...new Set(COLUMNS.map(({ from = TABLE_REM }) => from))];
/** How often the page says anew how long ago a run began, in ms. */
const NOW_MS = 10_000;
const NO_WIDTHS: ReadonlySet<number> = new Set();

export interface RunTableProps {
  /** Rows of all runs: a column without a value in any of them is not shown. Filters do not change that. */
  readonly all: readonly RunRow[];
  readonly rows: readonly RunRow[];
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** The table of runs. Only lines on the screen are on the page. */
export function RunTable({ all, list, onChange, rows }: RunTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isPrinting = usePrinting();
  const widths = useWidths();
  const isNarrow = !widths.has(TABLE_REM) && !isPrinting;
  const columns = useColumns(all, isPrinting ? NO_WIDTHS : widths);
  const tracks = columns.map(({ width }) => (isPrinting ? printedTrack(width) : width)).join(" ");
  const rowPx = (isNarrow ? CARD_REM : ROW_REM) * remPx();
  const [opened, setOpened] = useState(remembered.opened);
  const lines = useMemo(() => linesOf(rows, opened), [rows, opened]);
  const range = useVisibleRange(body, lines.length, rowPx);
  const now = useNow(rows);
  const [activeId, setActiveId] = useState(remembered.id);
  const found = useMemo(() => lines.findIndex(({ row }) => row.id === activeId), [lines, activeId]);
  const active = Math.max(found, 0);
  const mustFocus = useRef(remembered.mustFocus);
  useScrollAnchor(body, lines, list, rowPx);

  const choose = (position: number) => {
    const line = lines[position];
    if (line === undefined) return;
    remembered.id = line.row.id;
    setActiveId(line.row.id);
  };
  const fold = (position: number, isOpen: boolean) => {
    const { folded, id } = lines[position]?.row ?? {};
    if (folded === undefined || id === undefined || isOpen === opened.has(id)) return;
    const changed = new Set(opened);
    if (!changed.delete(id)) changed.add(id);
    remembered.opened = changed;
    setOpened(changed);
  };
  const open = (position: number) => {
    const line = lines[position];
    if (line === undefined) return;
    choose(position);
    if (line.row.folded?.kind === "conversation") return fold(position, !line.isOpen);
    remembered.mustFocus = true;
    location.hash = runAddress(line.row.run.key);
  };
  useLayoutEffect(() => {
    if (!mustFocus.current) return;
    mustFocus.current = false;
    remembered.mustFocus = false;
    body.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }, [activeId]);

  const onKeyDown = (event: KeyboardEvent) => {
    const { target } = event;
    // Buttons in the table have an action of their own.
    if (event.key === "Enter" && target instanceof Element && target.closest("button")) return;
    if (event.key === "Enter") return open(active);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") return fold(active, true);
    const isOpen = lines[active]?.isOpen === true;
    if (event.key === "ArrowLeft" && isOpen) return fold(active, false);
    const next =
      event.key === "ArrowLeft"
        ? lineAbove(lines, active)
        : nextRow(event.key, active, lines.length, Math.floor(innerHeight / rowPx) - 2);
    if (next === undefined) return;
    event.preventDefault();
    scrollToRow(body.current, next, rowPx);
    mustFocus.current = true;
    if (next === active) setActiveId(undefined);
    choose(next);
  };
  const onClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-at]") : null;
    if (row === null) return;
    const isIn = (selector: string) =>
      target instanceof Element && target.closest(selector) !== null;
    const position = Number(row.dataset.at);
    choose(position);
    if (isIn(`.${FOLD}`)) fold(position, lines[position]?.isOpen !== true);
    else if (isIn("a")) remembered.mustFocus = true;
    else if (getSelection()?.isCollapsed !== false) open(position);
  };

  const printed = Math.min(lines.length, MOST_PRINTED);
  const { from, to } = isPrinting ? { from: 0, to: printed } : range;
  const positions = Array.from({ length: to - from }, (_, at) => from + at);
  // The active row has the focus, so it stays on the page.
  if (active < from) positions.unshift(active);
  if (active >= to && active < lines.length && !isPrinting) positions.push(active);
  const shown = {
    now,
    sharedSeconds: sharedSeconds(positions.map((at) => lines[at]?.row.startMs)),
  };
  return (
    <>
      {isNarrow && <SortSelect list={list} onChange={onChange} />}
      <p class="print-only">
        {lines.length > printed
          ? `The first ${count(printed)} of ${count(lines.length)} runs are printed.`
          : `All ${count(lines.length)} runs are printed.`}
      </p>
      <table
        aria-label="Runs"
        aria-rowcount={lines.length + 1}
        class={`grid${isNarrow ? " cards" : ""}${isPrinting ? " printing" : ""}`}
        onClick={onClick}
        onKeyDown={onKeyDown}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows have the focus, arrow keys move it.
        role="grid"
        style={{ "--columns": tracks }}
        tabIndex={-1}
      >
        <SortHeader columns={columns} list={list} onChange={onChange} />
        <tbody ref={body} style={{ height: isPrinting ? "auto" : `${lines.length * rowPx}px` }}>
          {positions.map((position) => {
            const line = lines[position];
            return (
              line && (
                <tr
                  aria-rowindex={position + 2}
                  class={line.level > 0 ? `folded folded-${line.level}` : undefined}
                  data-at={position}
                  key={line.row.id}
                  onFocus={() => choose(position)}
                  style={{ transform: isPrinting ? "none" : `translateY(${position * rowPx}px)` }}
                  tabIndex={position === active ? 0 : -1}
                >
                  {columns.map(({ cell, label, style }) => (
                    <td class={style} key={label}>
                      {cell(line, shown)}
                    </td>
                  ))}
                </tr>
              )
            );
          })}
        </tbody>
      </table>
    </>
  );
}

/** The present when the rows changed, or later. */
function useNow(rows: readonly RunRow[]): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((last) => last + 1), NOW_MS);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => Date.now(), [rows, ticks]);
}

/** The seconds in which several of these times are: Unix times. */
function sharedSeconds(times: readonly (number | undefined)[]): ReadonlySet<number> {
  const [once, shared] = [new Set<number>(), new Set<number>()];
  for (const ms of times) {
    const second = Math.floor((ms ?? Number.NaN) / 1000);
    (once.has(second) ? shared : once).add(second);
  }
  return shared;
}

/** Scrolls as little as needed, and not below the head of the table. */
function scrollToRow(body: HTMLElement | null, position: number, rowPx: number): void {
  if (body === null) return;
  const head = body.previousElementSibling?.getBoundingClientRect().height ?? 0;
  const top = body.getBoundingClientRect().top + position * rowPx;
  if (top < head) scrollBy(0, top - head);
  else if (top + rowPx > innerHeight) scrollBy(0, top + rowPx - innerHeight);
}

/** The columns that some run fills, and that the window has room for. */
function useColumns(rows: readonly RunRow[], widths: ReadonlySet<number>): readonly Column[] {
  const filled = useMemo(
    () =>
      COLUMNS.filter(
        ({ isFilled }) => isFilled === undefined || rows.some(({ run }) => isFilled(run)),
      ),
    [rows],
  );
  return filled.filter(({ from }) => from === undefined || widths.has(from));
}

/** A track on paper: the text is small, and wraps. */
function printedTrack(track: string): string {
  return track.replace(/minmax\([\d.]+rem/, "minmax(0").replaceAll("rem", "em");
}

/** Those of the widths that the window has. */
function useWidths(): ReadonlySet<number> {
  const [found, setFound] = useState(widthsNow);
  useEffect(() => {
    const onChange = () => setFound(widthsNow());
    const media = WIDTHS.map((rem) => matchMedia(queryOf(rem)));
    onChange();
    for (const each of media) each.addEventListener("change", onChange);
    return () => {
      for (const each of media) each.removeEventListener("change", onChange);
    };
  }, []);
  return found;
}

function widthsNow(): ReadonlySet<number> {
  return new Set(WIDTHS.filter((rem) => matchMedia(queryOf(rem)).matches));
}

function queryOf(rem: number): string {
  return `(min-width: ${rem}rem)`;
}
