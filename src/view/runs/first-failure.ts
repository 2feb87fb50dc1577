import { cut } from "../../events/format/door.ts";
import type { ViewFailure, ViewSpan } from "../format.ts";
import { compareNs } from "../model/formats.ts";
import { ownText } from "./own-texts.ts";

/** Longest message, in characters: the index has those of 100,000 runs. */
const MOST_MESSAGE = 200;

/**
 * The first failure of a run after one more of its spans: the failed span that ended first. Spans that failed because
 * of it are around it, and end later. If they end at the same time, they come later, or it names one as its parent.
 */
export function earlierFailure(
  known: ViewFailure | undefined,
  span: ViewSpan,
): ViewFailure | undefined {
  const { end_ns, failed, message, name, parent_span_id, span_id } = span;
  if (!failed || end_ns === null) return known;
  if (known !== undefined) {
    const order = compareNs(end_ns, known.end_ns);
    if (order > 0 || (order === 0 && parent_span_id !== known.span_id)) return known;
  }
  return {
    span_id: ownText(span_id),
    name: ownText(cut(name, MOST_MESSAGE).text),
    ...(message === undefined ? {} : { message: ownText(cut(message, MOST_MESSAGE).text) }),
    end_ns,
  };
}

/**
 * The earliest of the failures of several runs.
 *
 * @param failures those of runs before those of the runs below them: a run can end with what failed in it.
 */
export function firstFailureOf(
  failures: Iterable<ViewFailure | undefined>,
): ViewFailure | undefined {
  let first: ViewFailure | undefined;
  for (const failure of failures) {
    if (failure === undefined) continue;
    if (first === undefined || compareNs(failure.end_ns, first.end_ns) <= 0) first = failure;
  }
  return first;
}
