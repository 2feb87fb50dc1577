import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../errors/error-kinds.ts";
import type { RunEnd } from "../../lifecycle/signal.ts";
import { UNCLASSED } from "./metric-names.ts";

/** How a run can end, as its metric has it. */
export interface RunOutcome {
  readonly outcome: RunEnd["outcome"];
  /** Only where it failed. */
  readonly failureKind: string | undefined;
}

/** Those that start at 0, so that the first of them is an increase to Prometheus. */
export const WATCHED_OUTCOMES: readonly RunOutcome[] = [
  endedAs("complete"),
  endedAs("interrupted"),
  endedAs("abandoned"),
  ...FAILURE_KIND_IDS.map(failedAs),
];

/** All of them. A newer agent may fail in a way that is not known here. */
export const OUTCOMES: readonly RunOutcome[] = [
  ...WATCHED_OUTCOMES,
  endedAs("refused"),
  failedAs(UNCLASSED),
];

const FAILED_POSITIONS = new Map(OUTCOMES.map(({ failureKind }, at) => [failureKind, at]));
const UNFAILED_POSITIONS = new Map(OUTCOMES.map(({ outcome }, at) => [outcome, at]));

/** Where the end of a run stands among {@link OUTCOMES}. */
export function positionOf(end: RunEnd): number {
  const at =
    end.outcome === "failed"
      ? FAILED_POSITIONS.get(failureKindOf(end.kind))
      : UNFAILED_POSITIONS.get(end.outcome);
  return at ?? OUTCOMES.length - 1;
}

/** The wire id of a failure kind; `_OTHER` for what is not known here. */
export function failureKindOf(kind: { readonly type: string } | null | undefined): string {
  const type = kind?.type;
  return FAILURE_KIND_IDS.find((known) => known === type) ?? UNCLASSED;
}

/** A tool error kind; `_OTHER` for what is not known here. */
export function toolErrorKindOf(kind: unknown): string {
  return TOOL_ERROR_KINDS.find((known) => known === kind) ?? UNCLASSED;
}

function endedAs(outcome: RunEnd["outcome"]): RunOutcome {
  return { outcome, failureKind: undefined };
}

function failedAs(failureKind: string): RunOutcome {
  return { outcome: "failed", failureKind };
}
