import { durationText } from "../../events/format/door.ts";
import type { TimeRange } from "./idle.ts";

/** Longest drawn wait, as a share of the time of work. */
const MOST_SHARE = 0.1;

/** A wait that is drawn shorter. */
export interface CutWait extends TimeRange {
  readonly share: number;
  readonly length: number;
}

/** Maps times to shares of the length of a track. */
export interface TimeAxis {
  readonly range: TimeRange;
  /** Position of a time, from 0 to 1. */
  readonly share: (time: number) => number;
  /** Waits that are drawn shorter. */
  readonly cut: readonly CutWait[];
  /** Labels at round times, without the time that was cut out. */
  readonly ticks: (most: number) => readonly { readonly time: number; readonly share: number }[];
}

/**
 * An axis that draws long waits shorter, so that work stays visible. A wait of a night takes about a tenth of it.
 *
 * @param range its times; not empty.
 * @param idle times without work, in order.
 */
export function timeAxis(range: TimeRange, idle: readonly TimeRange[]): TimeAxis {
  const inside = idle
    .map(({ from, to }) => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) }))
    .filter(({ from, to }) => from < to);
  const waited = inside.reduce((sum, { from, to }) => sum + to - from, 0);
  const longest = (range.to - range.from - waited) * Math.min(MOST_SHARE, 1 / inside.length);
  const cuts = longest > 0 ? inside.filter(({ from, to }) => to - from > longest) : [];
  // Corners of three scales: time, time without cuts, position.
  const times = [range.from];
  const counted = [0];
  const drawn = [0];
  const goOn = (time: number, counts: number, length: number) => {
    times.push(time);
    counted.push((counted.at(-1) ?? 0) + counts);
    drawn.push((drawn.at(-1) ?? 0) + length);
  };
  let last = range.from;
  for (const { from, to } of cuts) {
    goOn(from, from - last, from - last);
    goOn(to, 0, longest);
    last = to;
  }
  goOn(range.to, range.to - last, range.to - last);
  const total = drawn.at(-1) ?? 0;
  const share = (time: number) => between(times, drawn, time) / total;
  return {
    range,
    share,
    cut: cuts.map(({ from, to }) => ({ from, to, share: share(from), length: longest / total })),
    ticks: (wanted) => {
      const work = counted.at(-1) ?? 0;
      // With fewer than three labels, only the start may remain.
      return roundTimes(work, Math.max(3, Math.floor((wanted * work) / total))).map((time) => ({
        time,
        share: between(counted, drawn, time) / total,
      }));
    },
  };
}

/** Width of the label of a tick in pixels, at most. */
const LABEL = 70;
/** Width of a letter, and the space beside a label. */
const LETTER = 6.5;
const BESIDE = 8;

/** A mark on an axis. */
export interface Tick {
  readonly time: number;
  readonly share: number;
  /** Empty if there is no room. */
  readonly text: string;
  /** Its text ends at the mark. */
  readonly isLast: boolean;
}

/**
 * Marks of an axis with their labels: the start, then the time since the start.
 *
 * @param width of the axis in pixels.
 */
export function labelledTicks({ range, ticks }: TimeAxis, width: number): readonly Tick[] {
  const plus = range.from === 0 ? "" : "+";
  const start = range.from === 0 ? "0" : durationText(range.from);
  let free = 0;
  return ticks(Math.floor(width / LABEL)).map(({ share, time }) => {
    const text = time === 0 ? start : `${plus}${durationText(time)}`;
    const length = text.length * LETTER + BESIDE;
    // A label begins at its time, or ends there if it has no room.
    const isLast = share * width + length > width;
    const from = share * width - (isLast ? length : 0);
    const fits = from >= free;
    if (fits) free = from + length;
    return { time, share, text: fits ? text : "", isLast };
  });
}

/** Position of a bar on an axis, as shares of its length; `undefined`: outside of it. */
export function positionOn({ range, share }: TimeAxis, start: number, end: number) {
  const touches = end === range.from || start === range.to;
  if (end < range.from || start > range.to || (touches && start < end)) return undefined;
  return { start: share(start), length: share(end) - share(start) };
}

/** Shortest range that is shown, in ms, so that a point in time is visible. */
const SHORTEST_MS = 0.001;

/**
 * The time of a span, or of the whole run.
 *
 * @param end of the run so far, and of spans that are open.
 */
export function rangeOf(
  span: { readonly start: number; readonly end: number | undefined } | undefined,
  end: number,
): TimeRange {
  if (span === undefined) return { from: 0, to: end };
  return { from: span.start, to: Math.max(span.end ?? end, span.start + SHORTEST_MS) };
}

/** Interpolates a line with corners. If it has a value at several positions, the first counts. */
function between(xs: readonly number[], ys: readonly number[], x: number): number {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) < x) low = middle;
    else high = middle;
  }
  const [x0 = 0, x1 = 0, y0 = 0, y1 = 0] = [xs[low], xs[high], ys[low], ys[high]];
  const part = x1 === x0 ? 0 : (x - x0) / (x1 - x0);
  return y0 + Math.min(1, Math.max(0, part)) * (y1 - y0);
}

const UNITS = [1, 2, 5];
/** Steps above a second that are easy to read, in ms. */
const LONG = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
].map((seconds) => seconds * 1000);
const DAY = 86_400_000;

/**
 * Round times to label on an axis from 0, in ms. The first one is 0.
 *
 * @param length of the axis in ms.
 * @param most labels that have room.
 */
export function roundTimes(length: number, most: number): readonly number[] {
  if (!(length > 0) || most < 2) return [0];
  const step = roundStep(length / (most - 1));
  const times: number[] = [];
  for (let at = 0; at * step <= length * (1 + 1e-9); at++) times.push(at * step);
  return times;
}

/** The smallest round number that is at least `least`. */
function roundStep(least: number): number {
  if (least > 1000) {
    return LONG.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY;
  }
  const power = 10 ** Math.floor(Math.log10(least));
  for (const unit of UNITS) if (unit * power >= least * (1 - 1e-9)) return unit * power;
  return 10 * power;
}
