import {
  FAILURE_KIND_IDS,
  FAILURE_ORIGINS,
  type FailureOrigin,
  type RunEnd,
  TOOL_ERROR_KINDS,
} from "../../events/door.ts";
import { UNCLASSED } from "./metric-names.ts";

/** The outcome of a run, as the labels of its metric. */
export interface RunOutcome {
  readonly outcome: RunEnd["outcome"];
  /** Only if it failed. */
  readonly failureKind: string | undefined;
  readonly origin: FailureOrigin | undefined;
}

/** Outcomes whose series start at 0, so that Prometheus sees the first one as an increase. */
export const WATCHED_OUTCOMES: readonly RunOutcome[] = [
  endedAs("complete"),
  endedAs("interrupted"),
  endedAs("abandoned"),
  ...FAILURE_KIND_IDS.map((kind) => failedAs(kind, usualOrigin(kind))),
  // An error that a model call throws can also be a bug in the program.
  failedAs("internal", "model"),
];

/** All outcomes. A newer agent can have further failure kinds. */
export const OUTCOMES: readonly RunOutcome[] = [
  ...WATCHED_OUTCOMES,
  endedAs("refused"),
  ...[...FAILURE_KIND_IDS, UNCLASSED].flatMap((kind) =>
    FAILURE_ORIGINS.map((origin) => failedAs(kind, origin)).filter(isUnwatched),
  ),
];

const FAILED_POSITIONS = new Map(OUTCOMES.map((how, at) => [failureKey(how), at]));
const UNFAILED_POSITIONS = new Map(OUTCOMES.map(({ outcome }, at) => [outcome, at]));

/** Index of a run's end in {@link OUTCOMES}. */
export function positionOf(end: RunEnd): number {
  if (end.outcome !== "failed") return UNFAILED_POSITIONS.get(end.outcome) ?? 0;
  const failureKind = failureKindOf(end.kind);
  return FAILED_POSITIONS.get(failureKey({ failureKind, origin: originOf(end) })) ?? 0;
}

/** The origin of a run's failure: from the event, else the usual one of its kind. */
export function originOf({
  envelope,
  kind,
}: RunEnd & { readonly outcome: "failed" }): FailureOrigin {
  const reported = envelope?.origin;
  return FAILURE_ORIGINS.find((known) => known === reported) ?? usualOrigin(failureKindOf(kind));
}

/** The usual origin of a failure kind. */
function usualOrigin(failureKind: string): FailureOrigin {
  switch (failureKind) {
    case "tool_error_terminal":
      return "tool";
    case "model_dispatch":
      return "model";
    default:
      return "run";
  }
}

function failureKey({ failureKind, origin }: Omit<RunOutcome, "outcome">): string {
  return `${failureKind} ${origin}`;
}

function isUnwatched(how: RunOutcome): boolean {
  const key = failureKey(how);
  return !WATCHED_OUTCOMES.some((watched) => failureKey(watched) === key);
}

/** The wire ID of a failure kind; `_OTHER` for unknown ones. */
export function failureKindOf(kind: { readonly type: string } | null | undefined): string {
  const type = kind?.type;
  return FAILURE_KIND_IDS.find((known) => known === type) ?? UNCLASSED;
}

/** A tool error kind; `_OTHER` for unknown ones. */
export function toolErrorKindOf(kind: unknown): string {
  return TOOL_ERROR_KINDS.find((known) => known === kind) ?? UNCLASSED;
}

function endedAs(outcome: RunEnd["outcome"]): RunOutcome {
  return { outcome, failureKind: undefined, origin: undefined };
}

function failedAs(failureKind: string, origin: FailureOrigin): RunOutcome {
  return { outcome: "failed", failureKind, origin };
}
