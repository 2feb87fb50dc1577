import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListLine } from "../../model/list-lines.ts";
import type { ListQuery } from "../../model/list-query.ts";

/** Position of the reader in the list. It is restored after the page of a run. */
export const remembered: {
  /** ID of the row. */
  id: string | undefined;
  /** IDs of the rows that were opened. */
  opened: ReadonlySet<string>;
  mustFocus: boolean;
  scrollY: number;
} = { id: undefined, opened: new Set(), mustFocus: false, scrollY: 0 };

/** Restores the position. Then scrolls with the lines when new runs are added above the visible ones. */
export function useScrollAnchor(
  body: RefObject<HTMLElement | null>,
  lines: readonly ListLine[],
  list: ListQuery,
  rowPx: number,
): void {
  const last = useRef({ lines, list, rowPx });
  useLayoutEffect(() => scrollTo(0, remembered.scrollY), []);
  useEffect(() => {
    const onScroll = () => {
      // The page of a run scrolls to its top before this listener is removed.
      if (body.current?.isConnected) remembered.scrollY = scrollY;
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, [body]);
  useLayoutEffect(() => {
    const before = last.current;
    last.current = { lines, list, rowPx };
    const top = body.current?.getBoundingClientRect().top ?? 0;
    if (before.lines === lines || before.list !== list || before.rowPx !== rowPx || top >= 0)
      return;
    const first = Math.floor(-top / rowPx);
    const id = before.lines[first]?.row.id;
    const now = lines.findIndex(({ row }) => row.id === id);
    if (now >= 0 && now !== first) scrollBy(0, (now - first) * rowPx);
  }, [body, lines, list, rowPx]);
}
