import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListQuery } from "../../model/list-query.ts";
import type { RunRow } from "../../model/run-index.ts";

/** Position of the reader in the list. It is restored after the page of a run. */
export const remembered: { key: string | undefined; mustFocus: boolean; scrollY: number } = {
  key: undefined,
  mustFocus: false,
  scrollY: 0,
};

/** Restores the position. Then scrolls with the rows when new runs are added above the visible ones. */
export function useScrollAnchor(
  body: RefObject<HTMLElement | null>,
  rows: readonly RunRow[],
  list: ListQuery,
  rowPx: number,
): void {
  const last = useRef({ rows, list, rowPx });
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
    last.current = { rows, list, rowPx };
    const top = body.current?.getBoundingClientRect().top ?? 0;
    if (before.rows === rows || before.list !== list || before.rowPx !== rowPx || top >= 0) return;
    const first = Math.floor(-top / rowPx);
    const key = before.rows[first]?.run.key;
    const now = rows.findIndex(({ run }) => run.key === key);
    if (now >= 0 && now !== first) scrollBy(0, (now - first) * rowPx);
  }, [body, rows, list, rowPx]);
}
