import type { LogProblem, VerifyReport } from "../../audit/door.ts";
import { problemText, verdictOf } from "../../cli/door.ts";
import type { ViewProblem, ViewVerdict } from "../format.ts";

/** Problems of a verdict that are listed. All are counted. */
export const MOST_VERDICT_PROBLEMS = 100;

/** A log that is being verified. */
export const CHECKING: ViewVerdict = {
  state: "checking",
  text: "is being verified",
  advice: [],
  rows: 0,
  problem_count: 0,
  problems: [],
};

/** Result of a verification, as the page reads it. */
export function viewVerdictOf(report: VerifyReport, at: Date): ViewVerdict {
  const { advice, text } = verdictOf(report, 0);
  return {
    state: stateOf(report),
    // Without the sign at the start, which is for terminals.
    text: text.replace(/^[^\p{L}\d]+/u, ""),
    advice,
    rows: report.rows,
    problem_count: report.problemCount,
    problems: report.problems.slice(0, MOST_VERDICT_PROBLEMS).map(viewProblemOf),
    verified_at: at.toISOString(),
  };
}

/** A problem of a log, as the page reads it. */
export function viewProblemOf(problem: LogProblem): ViewProblem {
  const { file: place, line } = problem;
  const text = problemText(problem);
  return line > 0 ? { place, line, problem: text } : { place, problem: text };
}

function stateOf({ end, ok }: VerifyReport): ViewVerdict["state"] {
  if (!ok) return "damaged";
  switch (end) {
    case undefined:
    case "closed":
      return "intact";
    case "open":
      return "open";
    // The log may be cut: it has no mark that closes it.
    case "unclosed":
    case "unknown":
      return "unclosed";
    default:
      return end satisfies never;
  }
}
