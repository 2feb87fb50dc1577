import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Further rows above and below the screen. */
const MARGIN = 8;

/** Position of the first row on the page, and of the first row after it. */
export interface VisibleRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The range of rows on the screen and near it, updated while the page scrolls.
 *
 * @param rowPx height of every row.
 */
export function useVisibleRange(
  body: RefObject<HTMLElement | null>,
  length: number,
  rowPx: number,
): VisibleRange {
  const [range, setRange] = useState<VisibleRange>({ from: 0, to: 32 });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      // Steps of MARGIN, so that not every scroll event renders.
      const from = Math.floor(Math.max(0, -top) / rowPx / MARGIN) * MARGIN;
      const to = Math.ceil((innerHeight - top) / rowPx / MARGIN) * MARGIN;
      const next = { from: Math.max(0, from - MARGIN), to: Math.max(to + MARGIN, MARGIN) };
      setRange((last) => (last.from === next.from && last.to === next.to ? last : next));
    };
    const onScroll = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    addEventListener("scroll", onScroll, { passive: true });
    addEventListener("resize", onScroll);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", onScroll);
      removeEventListener("resize", onScroll);
    };
    // `length`: a shorter list moves the visible rows without a scroll event.
  }, [body, rowPx, length]);
  return { from: Math.min(range.from, length), to: Math.min(range.to, length) };
}
