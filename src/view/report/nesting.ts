import type { ViewSpan } from "../format.ts";

/** A span with its times in ns since a common start. */
export interface TimedSpan {
  readonly span: ViewSpan;
  readonly start: bigint;
  readonly end: bigint;
}

/**
 * Puts the spans of one run on tracks. Viewers nest the events of a track by time only. So a span is put on a track
 * where all spans around it in time are its ancestors. A sibling that overlaps it gets another track.
 *
 * @param spans those of the run, in any order.
 * @returns the track of each span, from 0, in the order of their start.
 */
export function onTracks(spans: readonly TimedSpan[]): (readonly [TimedSpan, number])[] {
  const ordered = [...spans].sort(
    (a, b) => compare(a.start, b.start) || compare(b.end, a.end) || depthFirst(a.span, b.span),
  );
  /** Open spans of each track, the outermost first. */
  const tracks: TimedSpan[][] = [];
  return ordered.map((timed) => {
    for (const open of tracks) {
      while (true) {
        const last = open.at(-1);
        if (last === undefined || last.end > timed.start || isUnder(timed, last)) break;
        open.pop();
      }
    }
    const under = tracks.findIndex((open) => {
      const last = open.at(-1);
      return last !== undefined && isUnder(timed, last);
    });
    const free = under === -1 ? tracks.findIndex((open) => open.length === 0) : under;
    const track = free === -1 ? tracks.length : free;
    const open = tracks[track] ?? [];
    tracks[track] = open;
    open.push(timed);
    return [timed, track] as const;
  });
}

/** Whether it is a child of the other one, and within its time. */
function isUnder({ end, span, start }: TimedSpan, above: TimedSpan): boolean {
  const { span_id, trace_id } = above.span;
  const isChild = span.parent_span_id === span_id && span.trace_id === trace_id;
  return isChild && start >= above.start && end <= above.end;
}

/** The parent comes before its child if both have the same times. */
function depthFirst(a: ViewSpan, b: ViewSpan): number {
  if (a.parent_span_id === b.span_id) return 1;
  return b.parent_span_id === a.span_id ? -1 : 0;
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
