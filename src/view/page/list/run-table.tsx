import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../../../events/format/door.ts";
import { MOST_PRINTED } from "../../model/list-limits.ts";
import type { ListQuery } from "../../model/list-query.ts";
import { nextRow } from "../../model/next-row.ts";
import type { RunRow } from "../../model/run-index.ts";
import { runAddress } from "../route.ts";
import { usePrinting } from "../shell/use-printing.ts";
import { COLUMNS, type Column } from "./columns.tsx";
import { remembered, useScrollAnchor } from "./list-position.ts";
import { SortHeader, SortSelect } from "./sort-controls.tsx";
import { useVisibleRange } from "./visible-range.ts";

/** Heights in rem, as in list.css. */
const ROW_REM = 2.5;
const CARD_REM = 8.5;
/** Narrower windows have cards. */
const TABLE_REM = 68;
/** Least widths of the columns that need room. */
const WIDTHS = [...new Set(COLUMNS.map(({ from = TABLE_REM }) => from))];
const NO_WIDTHS: ReadonlySet<number> = new Set();

export interface RunTableProps {
  readonly rows: readonly RunRow[];
  readonly list: ListQuery;
  readonly onChange: (list: ListQuery) => void;
}

/** The table of runs. Only rows on the screen are on the page. */
export function RunTable({ list, onChange, rows }: RunTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isPrinting = usePrinting();
  const widths = useWidths();
  const isNarrow = !widths.has(TABLE_REM) && !isPrinting;
  const columns = useColumns(rows, isPrinting ? NO_WIDTHS : widths);
  const tracks = columns.map(({ width }) => (isPrinting ? printedTrack(width) : width)).join(" ");
  const rowPx = (isNarrow ? CARD_REM : ROW_REM) * rootFontPx();
  const range = useVisibleRange(body, rows.length, rowPx);
  const [activeKey, setActiveKey] = useState(remembered.key);
  const found = useMemo(
    () => rows.findIndex(({ run }) => run.key === activeKey),
    [rows, activeKey],
  );
  const active = Math.max(found, 0);
  const mustFocus = useRef(remembered.mustFocus);
  useScrollAnchor(body, rows, list, rowPx);

  const choose = (position: number) => {
    const row = rows[position];
    if (row === undefined) return;
    remembered.key = row.run.key;
    setActiveKey(row.run.key);
  };
  const open = (position: number) => {
    const row = rows[position];
    if (row === undefined) return;
    choose(position);
    remembered.mustFocus = true;
    location.hash = runAddress(row.run.key);
  };
  useLayoutEffect(() => {
    if (!mustFocus.current) return;
    mustFocus.current = false;
    remembered.mustFocus = false;
    body.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }, [activeKey]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") return open(active);
    const next = nextRow(event.key, active, rows.length, Math.floor(innerHeight / rowPx) - 2);
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    scrollToRow(body.current, next, rowPx);
    mustFocus.current = true;
    if (next === active) setActiveKey(undefined);
    choose(next);
  };
  const onClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-at]") : null;
    if (row === null) return;
    const isLink = target instanceof Element && target.closest("a") !== null;
    choose(Number(row.dataset.at));
    if (isLink) remembered.mustFocus = true;
    else if (getSelection()?.isCollapsed !== false) open(Number(row.dataset.at));
  };

  const printed = Math.min(rows.length, MOST_PRINTED);
  const { from, to } = isPrinting ? { from: 0, to: printed } : range;
  const positions = Array.from({ length: to - from }, (_, at) => from + at);
  // The active row has the focus, so it stays on the page.
  if (active < from) positions.unshift(active);
  if (active >= to && active < rows.length && !isPrinting) positions.push(active);
  return (
    <>
      {isNarrow && <SortSelect list={list} onChange={onChange} />}
      <p class="print-only">
        {rows.length > printed
          ? `The first ${count(printed)} of ${count(rows.length)} runs are printed.`
          : `All ${count(rows.length)} runs are printed.`}
      </p>
      <table
        aria-label="Runs"
        aria-rowcount={rows.length + 1}
        class={`grid${isNarrow ? " cards" : ""}${isPrinting ? " printing" : ""}`}
        onClick={onClick}
        onKeyDown={onKeyDown}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows have the focus, arrow keys move it.
        role="grid"
        style={{ "--columns": tracks }}
        tabIndex={-1}
      >
        <SortHeader columns={columns} list={list} onChange={onChange} />
        <tbody ref={body} style={{ height: isPrinting ? "auto" : `${rows.length * rowPx}px` }}>
          {positions.map((position) => {
            const row = rows[position];
            return (
              row && (
                <tr
                  aria-rowindex={position + 2}
                  data-at={position}
                  key={row.run.key}
                  onFocus={() => choose(position)}
                  style={{ transform: isPrinting ? "none" : `translateY(${position * rowPx}px)` }}
                  tabIndex={position === active ? 0 : -1}
                >
                  {columns.map(({ cell, label, style }) => (
                    <td class={style} key={label}>
                      {cell(row)}
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

function rootFontPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
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
