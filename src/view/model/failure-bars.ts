import { highest } from "../../events/format/door.ts";
import type { RunRow } from "./run-index.ts";

/** Runs that began in one range of time. */
export interface FailureBar {
  /** Unix time in ms. */
  readonly fromMs: number;
  /** Unix time in ms, exclusive. */
  readonly toMs: number;
  readonly runs: number;
  readonly failed: number;
  /** Failed runs by kind, in the order of {@link FailureBars.kinds}. */
  readonly byKind: ReadonlyMap<string, number>;
}

/** Runs over time, and the failed ones among them by kind. */
export interface FailureBars {
  /** In order of time, including bars without runs. Empty without runs. */
  readonly bars: readonly FailureBar[];
  /** Kinds that occur, the most frequent first, with their counts. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Runs of the highest bar. */
  readonly highest: number;
}

/** Most bars. */
export const MOST_BARS = 60;

/** Kind of failed runs without a kind. */
export const UNKNOWN_KIND = "unknown";

/** Most kinds with their own pattern. The rest is {@link OTHER_KINDS}. */
export const MOST_KINDS = 7;

export const OTHER_KINDS = "other kinds";

/**
 * Bars of runs over the time of all rows.
 *
 * @param offset minutes that the reader's time zone is ahead of UTC: a bar of a day begins at midnight.
 */
export function failureBars(rows: readonly RunRow[], offset: number): FailureBars {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const all = new Map<string, number>();
  for (const row of rows) {
    first = Math.min(first, row.startMs);
    last = Math.max(last, row.startMs);
    const kind = failureKind(row);
    if (kind !== undefined) add(all, kind, 1);
  }
  const kinds = mostFrequent(all);
  if (rows.length === 0) return { bars: [], kinds, highest: 0 };
  const width = widthFor(last - first);
  const shift = offset * 60_000;
  const begin = Math.floor((first + shift) / width) * width - shift;
  const bars = Array.from({ length: Math.floor((last - begin) / width) + 1 }, (_, at) => ({
    fromMs: begin + at * width,
    toMs: begin + (at + 1) * width,
    runs: 0,
    failed: 0,
    byKind: new Map([...kinds.keys()].map((kind) => [kind, 0])),
  }));
  for (const row of rows) {
    const bar = bars[Math.floor((row.startMs - begin) / width)];
    if (bar === undefined) continue;
    bar.runs += 1;
    const kind = failureKind(row);
    if (kind === undefined) continue;
    bar.failed += 1;
    add(bar.byKind, kinds.has(kind) ? kind : OTHER_KINDS, 1);
  }
  return { bars, kinds, highest: highest(bars.map(({ runs }) => runs)) };
}

function mostFrequent(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sorted = [...counts].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
  const kinds = new Map(sorted.slice(0, MOST_KINDS));
  for (const [, rest] of sorted.slice(MOST_KINDS)) add(kinds, OTHER_KINDS, rest);
  return kinds;
}

function add(counts: Map<string, number>, kind: string, by: number): void {
  counts.set(kind, (counts.get(kind) ?? 0) + by);
}

function failureKind({ run }: RunRow): string | undefined {
  return run.outcome === "failed" ? (run.failure_kind ?? UNKNOWN_KIND) : undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Widths of bars that are easy to read. */
const WIDTHS = [
  ...[1, 5, 15, 30].map((n) => n * SECOND),
  ...[1, 5, 15, 30].map((n) => n * MINUTE),
  ...[1, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 7, 28, 364].map((n) => n * DAY),
];

/** The smallest width with at most {@link MOST_BARS} bars; one more may be needed for the alignment. */
function widthFor(lengthMs: number): number {
  const least = lengthMs / (MOST_BARS - 1);
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least / DAY) * DAY;
}
